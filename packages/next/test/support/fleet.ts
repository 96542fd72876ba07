import { type Cache, createCache, memoryStore, type Store } from '@cattlegrid/core'
import { nextCacheHandler, type NextCacheEntry, type NextCacheHandler } from '@cattlegrid/next'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'

/** Processes that share a store, with a clock that the test moves. */
export class Fleet {
  readonly runtime: ManualRuntime = createManualRuntime()
  readonly store: Store = memoryStore({ runtime: this.runtime })

  cache(): Cache {
    return createCache({ store: this.store, runtime: this.runtime })
  }

  /** The handler of one more process. */
  process(): NextCacheHandler {
    return nextCacheHandler(this.cache(), { maxBytes: 100 })
  }

  /** Lets time pass until the promise settles. */
  async passing<T>(promise: Promise<T>): Promise<T> {
    const steps = Promise.resolve().then(async () => {
      for (let step = 0; step < 500; step += 1) await this.runtime.advance(20)
      throw new Error('It has not settled')
    })
    return await Promise.race([promise, steps])
  }
}

/** The clock of Next. */
export const now = (): number => performance.timeOrigin + performance.now()

export function rendered(text: string, given: Partial<NextCacheEntry> = {}): Promise<NextCacheEntry> {
  const value = new Blob([text]).stream() as unknown as ReadableStream<Uint8Array>
  const entry = { value, tags: [], stale: 300, timestamp: now(), expire: 600, revalidate: 60 }
  return Promise.resolve({ ...entry, ...given })
}

/** What a process has. */
export async function textIn(handler: NextCacheHandler, key: string, softTags: string[] = []): Promise<unknown> {
  const entry = await handler.get(key, softTags)
  return entry && (await new Response(entry.value).text())
}

/** What a promise has resolved to by now. */
export async function answerOf<T>(promise: Promise<T>): Promise<T | 'waits'> {
  await new Promise((resolve) => setImmediate(resolve))
  return await Promise.race([promise, Promise.resolve('waits' as const)])
}

export const pathOf = (path: string): string => `_N_T_${path}`
