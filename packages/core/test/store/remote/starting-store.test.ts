import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Cache, createCache, type Store } from '@cattlegrid/core'
import { Remote } from '../../support/remote.ts'

let remote: Remote
/** Ends the start of the store. */
let started: () => void
let cache: Cache
const events: string[] = []

beforeEach(() => {
  remote = new Remote()
  events.length = 0
  remote.refuses = new Error('not connected')
  const promise = new Promise<void>((resolve) => {
    started = () => {
      isStarting = false
      resolve()
    }
  })
  let isStarting = true
  const store: Store = Object.create(remote.view(), { starting: { get: () => (isStarting ? promise : undefined) } })
  cache = createCache({ store, runtime: remote.runtime, ttl: '10s', storeTimeout: '250ms' })
  cache.on('away', ({ step }) => void events.push(`away ${step}`))
  cache.on('breaker', ({ state }) => void events.push(`breaker ${state}`))
})

/** The first connection stands. */
function connect(): void {
  remote.refuses = undefined
  started()
}

describe('the calls of a store that connects for the first time', () => {
  it('wait for it, and go on as if it had been there', async () => {
    const calls = [
      cache.getOrSet('k', () => 'value'),
      cache.set('other', 1),
      cache.delete('another'),
      cache.invalidateTags(['t']),
      cache.ready(),
    ]
    await remote.runtime.advance(200)
    expect(await Promise.race([...calls, Promise.resolve('waits')])).toBe('waits')
    connect()
    await remote.runtime.advance(0)
    expect(await Promise.all(calls)).toHaveLength(5)
    expect(events).toEqual([])
    expect(await remote.join().get('k')).toBe('value')
  })

  it('wait within their storeTimeout, and send nothing after it', async () => {
    const deleting = cache.delete('k').catch((error: unknown) => error)
    await remote.runtime.advance(300)
    expect(await deleting).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    const asked = remote.count('invalidate')
    connect()
    await remote.runtime.advance(1000)
    expect(remote.count('invalidate')).toBe(asked)
  })

  it('wait no longer once one of them has waited in vain, and no breaker opens', async () => {
    const first = Array.from({ length: 20 }, (_, index) => cache.getOrSet(`k${index}`, () => index))
    await remote.runtime.advance(300)
    expect(await Promise.all(first)).toHaveLength(20)
    const moment = remote.runtime.now()
    expect(await cache.getOrSet('later', () => 'at once')).toBe('at once')
    expect(remote.runtime.now()).toBe(moment)
    expect(events).not.toContain('breaker open')
    connect()
    await cache.set('k', 'stored')
    expect(await cache.get('k')).toBe('stored')
  })

  it('of clear wait for it, too', async () => {
    const clearing = cache.clear()
    await remote.runtime.advance(200)
    expect(remote.count('clear')).toBe(0)
    connect()
    await remote.runtime.advance(0)
    await clearing
    expect(remote.count('clear')).toBe(1)
  })

  it('do not wait for one whose first connection was refused', async () => {
    const call = cache.getOrSet('k', () => 'value')
    started()
    await remote.runtime.advance(0)
    expect(await call).toBe('value')
  })
})
