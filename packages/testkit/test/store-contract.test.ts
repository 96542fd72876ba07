import { describe, test } from '@jest/globals'
import { memoryStore } from '@cattlegrid/core'
import { createManualRuntime, describeStoreContract } from '@cattlegrid/testkit'

describeStoreContract(
  'memory',
  () => {
    const runtime = createManualRuntime()
    const store = memoryStore({ runtime })
    return Promise.resolve({
      open: () => Promise.resolve(store),
      advance: (ms: number) => runtime.advance(ms),
      now: () => runtime.now(),
      stop: () => store.close(),
    })
  },
  { describe, test },
)
