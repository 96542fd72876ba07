import { describe, test } from '@jest/globals'
import { memoryStore, type MemoryStoreOptions } from '@cattlegrid/core'
import { createManualRuntime, describeStoreContract, type StoreFactory } from '@cattlegrid/testkit'

function factory(options: MemoryStoreOptions): StoreFactory {
  return async () => {
    const runtime = createManualRuntime()
    const store = memoryStore({ runtime, ...options })
    return {
      open: async () => store,
      advance: (ms) => runtime.advance(ms),
      now: () => runtime.now(),
      stop: () => store.close(),
    }
  }
}

describeStoreContract('a memory store', factory({}), { describe, test })
describeStoreContract('a memory store that weighs its values', factory({ maxBytes: '64mb' }), { describe, test })
