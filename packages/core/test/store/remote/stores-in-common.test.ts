import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from '@jest/globals'
import { type Cache, createCache, memoryStore, type Store } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'

function sharedStore() {
  const runtime = createManualRuntime()
  const store: Store = Object.assign(memoryStore({ runtime }), { shared: true, peek: () => undefined })
  const count = { closed: 0 }
  store.close = async () => {
    count.closed += 1
  }
  const join = (): Cache => createCache({ store, runtime, ttl: '1m' })
  return { store, runtime, count, join }
}

describe('a shared store that two caches use', () => {
  it('is closed with the last of them', async () => {
    const { count, join } = sharedStore()
    const [one, other] = [join(), join()]
    await one.close()
    await one.close()
    expect(count.closed).toBe(0)
    expect(await other.getOrSet('k', () => 'still open')).toBe('still open')
    expect(await other.get('k')).toBe('still open')
    await other.close()
    expect(count.closed).toBe(1)
  })

  it('is refused to a further cache once it is closed', async () => {
    const { join } = sharedStore()
    await join().close()
    expect(join).toThrow(/createCache.store.*was closed/)
  })

  it('is not counted for a cache that was refused for another option', async () => {
    const { count, store, join } = sharedStore()
    expect(() => createCache({ store, ttl: -1 })).toThrow(/ttl/)
    await join().close()
    expect(count.closed).toBe(1)
  })
})

describe('a cache that a request creates', () => {
  it('keeps no async context of that request', () => {
    const { store, join } = sharedStore()
    const requests = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const { watch } = store
    store.watch = (listener) => {
      seen.push(requests.getStore())
      return watch.call(store, listener)
    }
    requests.run('a request', join)
    requests.disable()
    expect(seen).toEqual([undefined])
  })
})
