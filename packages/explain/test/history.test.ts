import { beforeEach, describe, expect, it } from '@jest/globals'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import type { Cache, CacheEvent, CacheEvents, EventName } from '@cattlegrid/core'
import { History } from '../src/history.ts'

/** What a cache has of its events. */
class Emitter {
  readonly heard = new Map<string, (event: CacheEvent) => void>()

  readonly on: Cache['on'] = (name, listener) => {
    this.heard.set(name, listener as unknown as (event: CacheEvent) => void)
    return () => this.heard.delete(name)
  }

  emit<E extends EventName>(type: E, fields: CacheEvents[E]): void {
    this.heard.get(type)?.({ ...fields, type, cache: 'default' } as unknown as CacheEvent)
  }
}

let runtime: ManualRuntime
let events: Emitter
let history: History

beforeEach(() => {
  runtime = createManualRuntime()
  events = new Emitter()
  history = new History(10, runtime)
  history.listenTo(events)
})

const lead = (key: string): void =>
  events.emit('lead', { key, flight: 1, lease: 'l', attempt: 1, background: false, takeover: false })
const typesOf = (key: string, tags?: readonly string[]): string[] => history.of(key, tags).map(({ type }) => type)

describe('a history', () => {
  it('keeps the last events, oldest first', () => {
    for (let index = 0; index < 25; index += 1) events.emit('cooling', { key: 'k', remaining: index })
    expect(history.of('k').map(({ fields }) => fields['remaining'])).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24])
  })

  it('hears neither hits nor renewals, so that nobody builds their events', () => {
    for (const name of ['hit', 'stale-hit', 'renew', 'warning']) expect(events.heard.has(name)).toBe(false)
    expect([...events.heard.keys()]).toEqual(expect.arrayContaining(['miss', 'lead', 'commit', 'close']))
  })

  it('counts the equal events of a herd as one, until another event of the key comes between', async () => {
    for (let call = 0; call < 100; call += 1) {
      events.emit('miss', { key: 'k', call, took: 0 })
      events.emit('join', { key: 'k', call, flight: 1 })
      events.emit('miss', { key: 'other', call, took: 0 })
      await runtime.advance(1)
    }
    lead('k')
    events.emit('join', { key: 'k', call: 7, flight: 1 })
    events.emit('join', { key: 'k', call: 8, flight: 2 })
    const [miss, ...others] = history.of('k')
    expect(miss).toMatchObject({ type: 'miss', count: 100 })
    expect((miss?.until ?? 0) - (miss?.at ?? 0)).toBe(99)
    expect(others.map(({ type, count }) => [type, count])).toEqual([
      ['join', 100],
      ['lead', 1],
      ['join', 1],
      ['join', 1],
    ])
  })

  it('begins a new place for an event whose first one was forgotten', () => {
    events.emit('miss', { key: 'k', call: 1, took: 0 })
    for (let index = 0; index < 10; index += 1) lead('other')
    events.emit('miss', { key: 'k', call: 2, took: 0 })
    expect(history.of('k')).toMatchObject([{ type: 'miss', count: 1 }])
  })

  it('remembers the bursts of 1,000 keys: the oldest one then begins a new place', () => {
    history = new History(10_000, runtime)
    history.listenTo(events)
    for (const key of ['k', ...Array.from({ length: 1000 }, (_, index) => `other ${index}`), 'k'])
      events.emit('miss', { key, call: 1, took: 0 })
    expect(history.of('k')).toMatchObject([{ count: 1 }, { count: 1 }])
  })

  it('tells the story of one key: its own events, the invalidations that concern it, and the state of the connection', () => {
    events.emit('notices', { state: 'connected', node: undefined })
    events.emit('breaker', { state: 'open', node: undefined, error: undefined })
    events.emit('commit', { key: 'k', flight: 1, lease: 'l', tags: ['a'], ttl: 1, took: 1 })
    lead('other')
    events.emit('invalidate', { key: 'a b', tags: ['a', 'b'], how: 'tags' })
    events.emit('invalidate', { key: 'c', tags: ['c'], how: 'tags' })
    events.emit('invalidate', { key: '*', tags: [], how: 'clear' })
    expect(typesOf('k')).toEqual(['breaker', 'commit', 'invalidate', 'invalidate'])
    expect(typesOf('unknown')).toEqual(['invalidate'])
    expect(typesOf('unknown', ['c'])).toEqual(['invalidate', 'invalidate'])
  })

  it('keeps no error, but its name, code and message, even if its getters throw', () => {
    const secret = { toString: () => 'secret' }
    const error = Object.assign(new TypeError('broken'), { code: 'E1', secret })
    events.emit('load-failed', { key: 'k', error, cooldown: 1 })
    events.emit('outcome', {
      key: 'k',
      flight: 1,
      took: 1,
      leased: true,
      outcome: {
        kind: 'failed',
        cooldown: 1,
        error: {
          get name(): string {
            throw error
          },
        },
      },
    })
    // A kept error would show it, and keep in memory whatever it refers to.
    error.message = 'changed'
    expect(history.of('k')).toMatchObject([
      { failure: { name: 'TypeError', code: 'E1', message: 'broken' }, fields: { cooldown: 1 } },
      { failure: { name: 'object' }, fields: { outcome: 'failed' } },
    ])
    expect(JSON.stringify(history.of('k'))).not.toContain('secret')
  })
})
