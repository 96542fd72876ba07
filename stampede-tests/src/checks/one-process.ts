import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Group } from '../check.js'
import { PAST_TTL, SECOND, STALE } from './times.js'

const CALLERS = 100

const crowds: readonly Check[] = [
  {
    id: 'one-cold',
    title: `${CALLERS} callers of a cold key cost one load`,
    loses: 'The source gets the whole crowd after each deploy.',
    needs: [],
    async play(stage, verdict) {
      await stage.source.mood({ took: 200 })
      verdict.all(await stage.member(0).herd('cold', CALLERS), 'cold 1')
      verdict.is('loads', (await stage.source.count('cold')).began, 1)
    },
  },
  {
    id: 'one-expired',
    title: `${CALLERS} callers of an expired key cost one load`,
    loses: 'The source gets the whole crowd at each expiry.',
    needs: [],
    stage: SECOND,
    async play(stage, verdict) {
      await stage.member(0).get('expired')
      await sleep(PAST_TTL)
      await stage.source.next()
      await stage.source.mood({ took: 200 })
      verdict.all(await stage.member(0).herd('expired', CALLERS), 'expired 2')
      verdict.is('loads', (await stage.source.count('expired')).began, 2)
    },
  },
  {
    id: 'one-slow',
    title: 'Callers of a key whose load outlasts its ttl cost one load',
    loses: 'A source that became slow gets more work than before, because of it.',
    needs: [],
    stage: SECOND,
    async play(stage, verdict) {
      await stage.source.mood({ took: 3000 })
      const first = stage.member(0).herd('slow', 10)
      await sleep(PAST_TTL)
      const second = stage.member(0).herd('slow', 10)
      verdict.all([...(await first), ...(await second)], 'slow 1')
      verdict.is('loads', (await stage.source.count('slow')).began, 1)
    },
  },
  {
    id: 'one-many',
    title: '200 cold keys are loaded side by side',
    loses: 'One lock for all keys makes a process as slow as its source.',
    needs: [],
    async play(stage, verdict) {
      await stage.source.mood({ took: 100 })
      const keys = Array.from({ length: 200 }, (_, index) => `many-${index}`)
      const answers = await Promise.all(keys.map((key) => stage.member(0).get(key)))
      verdict.is(
        'keys with their own value',
        answers.filter(({ value }, index) => value === `many-${index} 1`).length,
        200,
      )
      verdict.slowest('the slowest of 200 loads of 100 ms', answers, 5000)
    },
  },
  {
    id: 'one-other-key',
    title: 'A key that is slow keeps no other key waiting',
    loses: 'One slow page stops the whole process.',
    needs: [],
    async play(stage, verdict) {
      await stage.source.mood({ holds: true })
      const slow = stage.member(0).get('slow')
      await stage.begun('slow')
      await stage.source.mood({ holds: false })
      const other = await stage.member(0).get('other')
      verdict.is('the other key', other.value, 'other 1')
      await stage.source.release()
      await slow
    },
  },
]

const staleValues: readonly Check[] = [
  {
    id: 'one-stale',
    title: 'An expired value is served at once while one load runs behind it',
    loses: 'At each expiry the users of a hot page wait for its source.',
    needs: ['stale'],
    stage: STALE,
    async play(stage, verdict) {
      await stage.member(0).get('stale')
      await sleep(PAST_TTL)
      await stage.source.next()
      await stage.source.mood({ took: 2000 })
      const answers = await stage.member(0).herd('stale', CALLERS)
      verdict.all(answers, 'stale 1')
      verdict.slowest('the slowest answer', answers, 1000)
      verdict.is('the new value comes', await stage.sees(stage.member(0), 'stale', 'stale 2', 8000), true)
      verdict.is('loads', (await stage.source.count('stale')).began, 2)
    },
  },
  {
    id: 'one-stale-failing',
    title: 'An expired value is served while the source fails',
    loses: 'An outage of the source is an outage of the pages that are at hand.',
    needs: ['stale'],
    stage: STALE,
    async play(stage, verdict) {
      await stage.member(0).get('stale')
      await sleep(PAST_TTL)
      await stage.source.mood({ fails: true, took: 50 })
      for (let turn = 0; turn < 5; turn += 1) {
        verdict.all(await stage.member(0).herd('stale', 20), 'stale 1')
        await sleep(100)
      }
    },
  },
]

const failures: readonly Check[] = [
  {
    id: 'one-failing',
    title: `${CALLERS} callers of a failing key cost one load, and each gets its error`,
    loses: 'A source that fails gets the whole crowd, and does not recover.',
    needs: [],
    async play(stage, verdict) {
      await stage.source.mood({ took: 200, fails: true })
      verdict.allFail(await stage.member(0).herd('failing', CALLERS), 'the source failed for failing')
      verdict.is('loads', (await stage.source.count('failing')).began, 1)
    },
  },
  {
    id: 'one-recovered',
    title: 'A key that failed has a value within 5 s after the source is well',
    loses: 'An error that is cached outlasts the fault.',
    needs: [],
    async play(stage, verdict) {
      await stage.source.mood({ fails: true })
      await stage.member(0).get('recovered')
      await stage.source.mood({ fails: false })
      verdict.is('it recovers', await stage.sees(stage.member(0), 'recovered', 'recovered 1', 5000), true)
    },
  },
  {
    id: 'one-throwing',
    title: 'A loader that throws before it returns a promise fails like any other',
    loses: 'A mistake in one loader ends the process, or locks its key.',
    needs: [],
    async play(stage, verdict) {
      verdict.allFail(await stage.member(0).herd('throwing', 10, { throws: true }), 'thrown at once')
      verdict.is('the process lives', stage.member(0).lives, true)
      verdict.is('it recovers', await stage.sees(stage.member(0), 'throwing', 'throwing 1', 5000), true)
    },
  },
  {
    id: 'one-left',
    title: 'A caller that leaves is let go at once, and the others get the value',
    loses: 'A client that closed its tab takes the value from all who wait, or keeps its memory until the load ends.',
    needs: ['signal'],
    async play(stage, verdict) {
      await stage.source.mood({ holds: true })
      const left = stage.member(0).get('left', { leavesAfter: 300 })
      const others = stage.member(0).herd('left', 10)
      verdict.allAnswered([await left], 3000)
      await stage.source.release()
      verdict.all(await others, 'left 1')
      verdict.is('loads', (await stage.source.count('left')).began, 1)
    },
  },
]

const values: readonly Check[] = (
  [
    ['null', null],
    ['undefined', undefined],
    ['zero', 0],
    ['false', false],
    ['empty', ''],
  ] as const
).map(([key, value]) => ({
  id: `one-${key}`,
  title: `${value === '' ? 'An empty text' : String(value)} is a value: callers get it, and it is loaded once`,
  loses: 'What does not exist is asked for most, and each request for it reaches the source.',
  needs: [],
  async play(stage, verdict) {
    await stage.source.mood({ took: 100 })
    verdict.all(await stage.member(0).herd(key, 10), value)
    verdict.all([await stage.member(0).get(key)], value)
    verdict.is('loads', (await stage.source.count(key)).began, 1)
  },
}))

const removals: readonly Check[] = [
  {
    id: 'one-delete',
    title: 'A deleted key is loaded again',
    loses: 'What was changed stays on the page until it expires.',
    needs: ['delete'],
    async play(stage, verdict) {
      await stage.member(0).get('deleted')
      await stage.source.next()
      await stage.member(0).delete('deleted')
      verdict.all([await stage.member(0).get('deleted')], 'deleted 2')
    },
  },
  {
    id: 'one-delete-loading',
    title: 'A value whose load began before a delete is not kept after it',
    loses: 'The old price comes back after the change, and stays for the whole ttl.',
    needs: ['delete'],
    async play(stage, verdict) {
      await stage.source.mood({ holds: true })
      const before = stage.member(0).get('deleted')
      await stage.begun('deleted')
      await stage.source.next()
      await stage.member(0).delete('deleted')
      await stage.source.release()
      await before
      verdict.all([await stage.member(0).get('deleted')], 'deleted 2')
    },
  },
  {
    id: 'one-tag',
    title: 'What carries an invalidated tag is loaded again, and nothing else is',
    loses: 'A change shows on some pages and not on others.',
    needs: ['tags'],
    async play(stage, verdict) {
      await stage.member(0).get('tagged', { tags: ['one'] })
      await stage.member(0).get('other', { tags: ['two'] })
      await stage.source.next()
      await stage.member(0).invalidateTag('one')
      verdict.all([await stage.member(0).get('tagged', { tags: ['one'] })], 'tagged 2')
      verdict.all([await stage.member(0).get('other', { tags: ['two'] })], 'other 1')
    },
  },
]

export const oneProcess: Group = {
  id: 'one',
  title: 'In one process',
  checks: [...crowds, ...staleValues, ...failures, ...values, ...removals],
}
