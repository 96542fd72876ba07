import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Cache, type CacheOptions, createCache, type Store } from '@cattlegrid/core'
import { type Away, type ProcessQuestions, storedKey } from '@cattlegrid/core/extend'
import { type Diagnosis, explain, type ExplainOptions, hotKeyDigest } from '@cattlegrid/explain'
import { Remote } from '../../../test/support/remote.ts'

let remote: Remote
let answerers: Set<(question: string) => string | undefined>
/** What answers beside the caches. */
let foreign: string[]
/** What the store says instead of everything. */
let away: Away | undefined

beforeEach(() => {
  remote = new Remote()
  answerers = new Set()
  foreign = []
  away = undefined
})

interface Joined {
  readonly cache: Cache
  readonly diagnosis: Diagnosis
}

/** A cache as another process has it, on a store that carries questions. */
function join(options: CacheOptions = {}, explainOptions: ExplainOptions = {}): Joined {
  const view = remote.view()
  const store: Store & { readonly questions: ProcessQuestions } = {
    ...view,
    inspect: (key) => (away === undefined ? view.inspect(key) : Promise.resolve(away)),
    questions: {
      answer: (answer) => {
        answerers.add(answer)
        return () => answerers.delete(answer)
      },
      ask: (question) => {
        const texts = [...answerers].map((answer) => answer(question)).filter((text) => text !== undefined)
        return Promise.resolve(away ?? { kind: 'answers', answers: [...foreign, ...texts], unanswered: 0 })
      },
    },
  }
  const cache = remote.join({ store, lease: { duration: '5s' }, ...options })
  return { cache, diagnosis: explain(cache, explainOptions) }
}

/** The sentences of an explanation, without the time of day and the pid. */
async function sentences({ diagnosis }: Joined, key = 'k'): Promise<string[]> {
  const { sentences: all } = await diagnosis.explain(key)
  return all.map((sentence) => sentence.replace(/^[\d:.]{12} pid \d+ ?/, ''))
}

const never = (): never => {
  throw new Error('The loader was called')
}

const slow = (ms: number) => (): Promise<string> =>
  new Promise((resolve) => void remote.runtime.schedule(() => resolve('secret value'), ms))

describe('an explanation', () => {
  it('tells why a key was missed, who leads, and who waits, in the order of the events of all processes', async () => {
    const [web, worker] = [join({ name: 'web' }), join({ name: 'worker' })]
    await web.cache.getOrSet('k', () => 'secret value', { tags: ['product:7'] })
    await remote.runtime.advance(1000)
    await worker.cache.invalidateTags(['product:7'])
    await remote.runtime.advance(3000)
    const calls = [web.cache.getOrSet('k', slow(2000)), web.cache.getOrSet('k', never)]
    await remote.runtime.advance(80)
    calls.push(worker.cache.getOrSet('k', never))
    await remote.runtime.advance(500)
    expect(await sentences(worker)).toEqual([
      '(web): miss: no earlier value is remembered · leads, attempt 1 · loads · 1 call answered: loaded (leader) · stored, fresh for 10.0 s · the load took 0 ms',
      '(worker): tag product:7 invalidated',
      '(web): miss of 2 calls: tag product:7 invalidated 3.0 s ago · 1 more call waits for this refresh · leads, attempt 1 · loads',
      '(worker): miss: tag product:7 invalidated 3.1 s ago · waits: the lease is held by another process, 4.9 s remain',
      '(worker): looks again, by its timer · waits: the lease is held by another process, 4.4 s remain',
      'Now: gone, because the tag product:7 was invalidated after its load began.',
      'The lease is held for 580 ms; unless it is renewed, it ends in 4.4 s.',
      '1 call of this process waits for the load.',
    ])
    await remote.runtime.advance(2000)
    expect(await Promise.all(calls)).toEqual(['secret value', 'secret value', 'secret value'])
  })

  it('holds no value, and joins the events of a load by the lease', async () => {
    const { cache, diagnosis } = join()
    await cache.getOrSet('k', () => 'secret value')
    await remote.runtime.advance(0)
    const { events, ...rest } = await diagnosis.explain('k')
    expect(JSON.stringify({ events, rest })).not.toContain('secret value')
    const leases = events
      .filter(({ type }) => type === 'lead' || type === 'commit')
      .map(({ fields }) => fields['lease'])
    expect(leases).toEqual([expect.stringMatching(/^.{8}$/), leases[0]])
  })

  it('tells that the key cools down, and why', async () => {
    const joined = join({ failureCooldown: { min: '2s', max: '2s' } })
    const refused = Object.assign(new Error('SELECT * FROM users'), { code: 'ECONNREFUSED' })
    await expect(joined.cache.getOrSet('k', () => Promise.reject(refused))).rejects.toBe(refused)
    const here = await sentences(joined)
    expect(here[0]).toContain('the load failed after 0 ms (Error ECONNREFUSED: SELECT * FROM users)')
    expect(here.at(-1)).toBe(
      'The key cools down: nobody loads it for another 2.0 s, because the last load failed (Error ECONNREFUSED).',
    )
  })

  it('holds the message of an error only in its own process, or with shareErrorMessages', async () => {
    const [silent, open, asking] = [join(), join({}, { shareErrorMessages: true }), join()]
    const fail = (): Promise<never> => Promise.reject(new Error('SELECT 1'))
    await expect(silent.cache.getOrSet('silent', fail)).rejects.toThrow('SELECT 1')
    await expect(open.cache.getOrSet('open', fail)).rejects.toThrow('SELECT 1')
    expect(JSON.stringify(await asking.diagnosis.explain('silent'))).not.toContain('SELECT 1')
    expect(JSON.stringify(await asking.diagnosis.explain('open'))).toContain('SELECT 1')
  })

  it('tells that the store is gone, and then holds what this process remembers', async () => {
    const [here, there] = [join({ name: 'here' }), join({ name: 'there' })]
    await Promise.all([here.cache.set('k', 1), there.cache.set('k', 2)])
    away = { kind: 'away', why: 'disconnected', cause: new Error('The Redis client is not connected') }
    const { events, sentences: told, state } = await here.diagnosis.explain('k')
    expect(state).toBeUndefined()
    expect(events.filter(({ type }) => type === 'invalidate').map(({ process }) => process.name)).toEqual(['here'])
    expect(told.slice(-2)).toEqual([
      'The store does not answer: each process serves its own copies, and loads on its own.',
      'The other processes could not be asked (The Redis client is not connected): only what this process remembers is shown.',
    ])
  })

  it('does not wait for a store that is frozen', async () => {
    const questions: ProcessQuestions = { answer: () => () => {}, ask: () => new Promise(() => {}) }
    const store = { ...remote.view(), questions }
    const explaining = explain(remote.join({ store })).explain('k', { timeout: '1s' })
    await remote.runtime.advance(1250)
    expect(await explaining).toMatchObject({ problem: expect.stringContaining('no answer in time') })
  })

  it('tells of a long key that it is stored under its digest', async () => {
    const joined = join()
    const long = 'k'.repeat(2000)
    await joined.cache.set(long, 1)
    expect(await sentences(joined, long)).toEqual([
      expect.stringMatching(/^The key is long: it is stored as %sha256:/),
      ': a value was set',
      'Now: fresh for another 10.0 s.',
    ])
  })

  it('says so when nobody remembers the key', async () => {
    expect(await sentences(join())).toEqual([
      'No process that answered remembers an event of the key.',
      'Now: the store has no entry of the key.',
    ])
  })

  it('ignores answers that no cache has given, and the events in them that are none', async () => {
    const { cache, diagnosis } = join()
    await cache.set('k', 1)
    const process = { pid: 7, host: 'web-3', name: 'old' }
    const event = { type: 'lead', at: 1, until: 1, count: 1, key: 'k', fields: {} }
    const odd = [{}, null, { ...event, at: 'yesterday' }, { ...event, fields: [] }, { ...event, failure: 7 }]
    foreign = ['', 'null', '[]', '{"id":7}', JSON.stringify({ id: 'x', at: 1, process: { pid: '7' }, events: [] })]
    foreign.push(JSON.stringify({ id: 'y', at: 1, process, events: [...odd, event, { ...event, type: 'teleport' }] }))
    const { events, processes } = await diagnosis.explain('k')
    expect(processes).toHaveLength(2)
    expect(events.filter(({ process: { pid } }) => pid === 7).map(({ type }) => type)).toEqual(['lead', 'teleport'])
  })

  it('moves the events of a host whose clock is wrong onto the clock of this one', async () => {
    const { cache, diagnosis } = join()
    await cache.set('k', 1)
    const event = { type: 'lead', at: 5000, until: 5000, count: 1, key: 'k', fields: {} }
    const process = { pid: 7, host: 'web-3', name: 'late' }
    foreign = [JSON.stringify({ id: 'y', at: 6000, process, events: [event] })]
    const { events } = await diagnosis.explain('k')
    expect(events.find(({ type }) => type === 'lead')?.at).toBe(remote.runtime.timeOfDay() - 1000)
  })

  it('finds a long key by the digest that events show', async () => {
    const { cache, diagnosis } = join()
    const long = 'k'.repeat(2000)
    await cache.set(long, 1)
    const { events, state } = await diagnosis.explain(storedKey(long))
    expect([events.length, state?.state]).toEqual([1, 'fresh'])
  })

  it('of a cache whose store asks nobody holds the events of this process', async () => {
    const cache = createCache({ runtime: remote.runtime, ttl: '10s' })
    const joined = { cache, diagnosis: explain(cache.with({ ttl: '1s' })) }
    await cache.set('k', 1)
    expect(await sentences(joined)).toEqual([': a value was set', 'Now: fresh for another 10.0 s.'])
    const shared = explain(remote.join(), { history: 0 })
    expect((await shared.explain('k')).sentences.slice(-2)).toEqual([
      'The store cannot ask other processes.',
      'This process keeps no history: the option `history` is 0.',
    ])
  })
})

describe('a diagnosis', () => {
  it('hears nothing and answers nobody once it is closed, or its cache', async () => {
    const [one, other, asking] = [join({ name: 'one' }), join({ name: 'other' }), join({ name: 'asking' })]
    one.diagnosis.close()
    await other.cache.close()
    await one.cache.set('k', 1)
    expect(answerers.size).toBe(1)
    const { events, processes } = await asking.diagnosis.explain('k')
    expect([events, processes.map(({ name }) => name)]).toEqual([[], ['asking']])
    expect((await one.diagnosis.explain('k')).events).toEqual([])
    await expect(other.diagnosis.explain('k')).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })

  it('adds up the keys that cost most, and shows their digests', async () => {
    const [one, other] = [join(), join({}, { plainKeys: true })]
    const calls = [one.cache.getOrSet('k', slow(500)), one.cache.getOrSet('k', never)]
    await remote.runtime.advance(500)
    await Promise.all(calls)
    const load = other.cache.refresh('k', slow(20))
    await remote.runtime.advance(20)
    await load
    await remote.runtime.advance(0)
    const { loadTime, followers } = await one.diagnosis.hotKeys()
    expect(loadTime).toEqual([
      { key: hotKeyDigest('k'), weight: 500, error: 0 },
      { key: 'k', weight: 20, error: 0 },
    ])
    expect(followers).toEqual([{ key: hotKeyDigest('k'), weight: 1, error: 0 }])
  })
})
