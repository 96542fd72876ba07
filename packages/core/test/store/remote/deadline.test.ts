import { describe, expect, it } from '@jest/globals'
import { type Cache, createCache, type Store } from '@cattlegrid/core'
import { awayBecause } from '@cattlegrid/core/extend'
import { createManualRuntime } from '@cattlegrid/testkit'
import { Deadline } from '../../../src/store/remote/deadline.ts'
import { Origin } from '../../support/fleet.ts'
import { Remote } from '../../support/remote.ts'

interface Setup {
  readonly remote: Remote
  readonly runtime: Remote['runtime']
  readonly delays: Remote['delays']
  readonly cache: Cache
}

function setUp(): Setup {
  const remote = new Remote()
  const { runtime, delays } = remote
  return { remote, runtime, delays, cache: remote.join() }
}

describe('a shared store that does not answer', () => {
  it.each(['read', 'acquire'] as const)('at %s is bypassed after storeTimeout, with one load', async (step) => {
    const { cache, runtime, delays } = setUp()
    delays[step] = Infinity
    const origin = new Origin()
    const calls = [cache.lookup('k', origin.loader), cache.lookup('k', origin.loader)]
    await runtime.advance(320)
    expect(origin.count).toBe(1)
    origin.last.resolve('value')
    expect(await calls[0]).toMatchObject({ value: 'value', outcome: { kind: 'abandoned', why: 'away' } })
    expect(await calls[1]).toMatchObject({ value: 'value' })
  })

  it('at a commit is waited for four times as long, and no longer by a call', async () => {
    const { cache, runtime, delays } = setUp()
    delays.commit = 900
    const outcomes: string[] = []
    cache.on('outcome', ({ outcome }) => void outcomes.push(outcome.kind))
    const call = cache.lookup('k', () => 'value')
    await runtime.advance(320)
    // No call waits for the store longer than storeTimeout.
    expect([(await call).outcome, outcomes]).toEqual([{ kind: 'abandoned', why: 'away' }, []])
    await runtime.advance(630)
    expect(outcomes).toEqual(['committed'])
    delays.commit = Infinity
    const hung = cache.lookup('other', () => 'value')
    await runtime.advance(320)
    expect(await hung).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
    await runtime.advance(1000)
    expect(outcomes).toEqual(['committed', 'abandoned'])
  })

  it('in the middle of a load makes no joiner wait for more than storeTimeout in all', async () => {
    const { cache, runtime, remote } = setUp()
    const origin = new Origin()
    const leader = cache.lookup('k', origin.loader)
    await runtime.advance(1)
    const confirmed = cache.getOrSet('k', origin.loader)
    await runtime.advance(1)
    remote.freeze(true)
    let got: unknown
    void cache.getOrSet('k', origin.loader).then((value) => (got = value))
    await runtime.advance(320)
    origin.last.resolve('value')
    await runtime.advance(1)
    // Its read has used the time up, so that it does not wait for the commit.
    expect(got).toBe('value')
    await runtime.advance(320)
    expect([await confirmed, (await leader).outcome]).toEqual(['value', { kind: 'abandoned', why: 'away' }])
  })

  it.each(['set', 'delete', 'clear'] as const)('at %s makes it reject', async (verb) => {
    const { cache, runtime, delays } = setUp()
    Object.assign(delays, { put: Infinity, invalidate: Infinity, clear: Infinity })
    const call = verb === 'set' ? cache.set('k', 1) : verb === 'delete' ? cache.delete('k') : cache.clear()
    const settled = Promise.allSettled([call])
    await runtime.advance(2 * 320)
    expect((await settled)[0]).toMatchObject({ reason: { code: 'CATTLEGRID_STORE_AWAY' } })
  })

  it('at a step of a clear ends it, however long the clear takes while its steps are answered', async () => {
    const remote = new Remote()
    const { runtime } = remote
    const asked: boolean[] = []
    let answeredSteps = 20
    const clear: Store['clear'] = async (isAbandoned) => {
      for (let step = 0; step < 20; step += 1) {
        asked.push(isAbandoned?.() === true)
        if (asked.at(-1) === true) return awayBecause(new Error('too late'))
        const took = step < answeredSteps ? 200 : 10_000
        await new Promise<void>((resolve) => void runtime.schedule(resolve, took))
      }
      return { kind: 'cleared', entries: 7 }
    }
    const cache = createCache({ store: { ...remote.view(), clear }, runtime, storeTimeout: '250ms' })
    const clearing = cache.clear()
    await runtime.advance(20 * 200)
    expect([await clearing, asked.length]).toEqual([7, 20])
    asked.length = 0
    answeredSteps = 2
    const settled = Promise.allSettled([cache.clear()])
    await runtime.advance(2 * 200 + 2 * 320)
    expect((await settled)[0]).toMatchObject({ reason: { code: 'CATTLEGRID_STORE_AWAY' } })
    await runtime.advance(20_000)
    expect(asked).toEqual([false, false, false, true])
  })

  it('and grants a lease too late gets the lease back, since nothing else would end it', async () => {
    const { cache, runtime, delays, remote } = setUp()
    delays.acquire = 400
    const call = cache.getOrSet('k', () => 'alone')
    await runtime.advance(320)
    expect(await call).toBe('alone')
    await runtime.advance(100)
    const asked = { duration: 1000, seen: '', wake: false }
    expect(await remote.memory.acquire('k', asked)).toMatchObject({ kind: 'lead' })
  })

  it('leaves no timer behind', async () => {
    const { cache, runtime, delays } = setUp()
    delays.read = Infinity
    const call = cache.getOrSet('k', () => 'value')
    await runtime.advance(320)
    expect(await call).toBe('value')
    // What is kept for an outage has expired by then.
    await runtime.advance(12_000)
    expect(runtime.pendingTimers).toBe(0)
  })
})

describe('a step of a shared store', () => {
  it('has the whole of its time, however many steps were answered just before', async () => {
    const { cache, runtime, delays } = setUp()
    await cache.set('k', 'kept')
    for (let count = 0; count < 20; count += 1) expect(await cache.get('k')).toBe('kept')
    delays.read = 200
    const slow = cache.get('k')
    await runtime.advance(200)
    expect(await slow).toBe('kept')
  })

  it('has no deadline any more once it was answered', async () => {
    const { cache, runtime } = setUp()
    await cache.set('k', 'kept')
    expect(await cache.get('k')).toBe('kept')
    await runtime.advance(12_000)
    expect(runtime.pendingTimers).toBe(0)
  })

  it('learns whether its answer still counts', async () => {
    const runtime = createManualRuntime()
    const deadline = new Deadline(runtime, 250)
    const questions: (() => boolean)[] = []
    const answer = deadline.within((isOver) => {
      questions.push(isOver)
      return new Promise<{ readonly kind: string }>(() => undefined)
    })
    expect(questions[0]?.()).toBe(false)
    await runtime.advance(320)
    expect([questions[0]?.(), (await answer).kind]).toEqual([true, 'away'])
  })

  it('that answers too late does not change the deadlines of the others', async () => {
    const runtime = createManualRuntime()
    const deadline = new Deadline(runtime, 250)
    const answerAfter = (delay: number) => (): Promise<{ readonly kind: string }> =>
      new Promise((resolve) => void runtime.schedule(() => resolve({ kind: 'answer' }), delay))
    const late = deadline.within(answerAfter(500))
    await runtime.advance(320)
    const kinds: string[] = []
    for (const delay of [300, 200, 400]) void deadline.within(answerAfter(delay)).then(({ kind }) => kinds.push(kind))
    await runtime.advance(320)
    expect([(await late).kind, kinds]).toEqual(['away', ['answer', 'away', 'away']])
    expect(runtime.pendingTimers).toBeLessThanOrEqual(1)
  })
})
