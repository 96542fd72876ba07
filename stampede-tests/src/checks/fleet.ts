import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Group } from '../check.js'
import type { Stage } from '../stage.js'
import { PAST_TTL, SECOND, STALE } from './times.js'

const PROCESSES = 4
const EACH = 25

const herd = async (stage: Stage, key: string) =>
  (await Promise.all(stage.members.map((member) => member.herd(key, EACH)))).flat()

const crowds: readonly Check[] = [
  {
    id: 'fleet-cold',
    title: `${PROCESSES} processes with ${EACH} callers each cost one load of a cold key`,
    loses: 'Each pod sends its own load: a hundred pods are a stampede of a hundred.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await stage.source.mood({ took: 500 })
      verdict.all(await herd(stage, 'cold'), 'cold 1')
      verdict.is('loads', (await stage.source.count('cold')).began, 1)
    },
  },
  {
    id: 'fleet-shared',
    title: 'What one process has loaded, another has',
    loses: 'Each pod that starts loads everything again.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await stage.member(0).get('shared')
      await sleep(200)
      verdict.all([await stage.member(1).get('shared')], 'shared 1')
      verdict.is('loads', (await stage.source.count('shared')).began, 1)
    },
  },
  {
    id: 'fleet-expired',
    title: 'An expired key costs one load, over all processes',
    loses: 'The source gets one load of each pod at each expiry.',
    needs: ['fleet'],
    stage: SECOND,
    async play(stage, verdict) {
      await herd(stage, 'expired')
      await sleep(PAST_TTL)
      await stage.source.next()
      await stage.source.mood({ took: 500 })
      const before = (await stage.source.count('expired')).began
      verdict.all(await herd(stage, 'expired'), 'expired 2')
      verdict.is('loads', (await stage.source.count('expired')).began - before, 1)
    },
  },
  {
    id: 'fleet-stale',
    title: 'An expired value is served at once by all processes, and one of them loads it',
    loses: 'At each expiry users wait, or each pod loads.',
    needs: ['fleet', 'stale'],
    stage: STALE,
    async play(stage, verdict) {
      await stage.member(0).get('stale')
      await sleep(200)
      await herd(stage, 'stale')
      const before = (await stage.source.count('stale')).began
      await sleep(PAST_TTL)
      await stage.source.next()
      await stage.source.mood({ took: 500 })
      const answers = await herd(stage, 'stale')
      verdict.all(answers, 'stale 1')
      verdict.slowest('the slowest answer', answers, 450)
      verdict.is('the new value comes', await stage.sees(stage.member(0), 'stale', 'stale 2', 8000), true)
      verdict.is('loads', (await stage.source.count('stale')).began - before, 1)
    },
  },
  {
    id: 'fleet-many',
    title: `50 cold keys cost one load each over ${PROCESSES} processes`,
    loses: 'A cold fleet costs its source as many loads as it has pods.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await stage.source.mood({ took: 500 })
      const keys = Array.from({ length: 50 }, (_, index) => `many-${index}`)
      await Promise.all(stage.members.flatMap((member) => keys.map((key) => member.get(key))))
      const counts = Object.values(await stage.source.counts())
      verdict.is(
        'loads',
        counts.reduce((sum, { began }) => sum + began, 0),
        50,
      )
    },
  },
  {
    id: 'fleet-failing',
    title: 'A failing key costs at most one load a process, and each caller gets an error',
    loses: 'A source that fails gets the crowd of all pods, and does not recover.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await stage.source.mood({ took: 300, fails: true })
      // The error of another process may come as the library's own.
      verdict.allFail(await herd(stage, 'failing'), '')
      verdict.atMost('loads', (await stage.source.count('failing')).began, PROCESSES)
    },
  },
]

const faults: readonly Check[] = [
  {
    id: 'fleet-killed',
    title: 'A process that is killed while it loads holds nobody up for more than 15 s',
    loses: 'A deploy in the wrong moment stops a page until a lock expires.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await stage.source.mood({ holds: true })
      void stage.member(0).get('killed')
      await stage.begun('killed')
      const others = Promise.all([1, 2, 3].map((index) => stage.member(index).get('killed')))
      await sleep(300)
      await stage.source.mood({ holds: false })
      stage.member(0).kill()
      const answers = await others
      verdict.all(answers, 'killed 1')
      verdict.slowest('the slowest caller', answers, 15_000)
    },
  },
  {
    id: 'fleet-paused',
    title: 'A process that stood still while it loaded does not overwrite what is newer',
    loses: 'A pod in a long pause brings an old value back, for the whole ttl.',
    needs: ['fleet', 'delete'],
    async play(stage, verdict) {
      await stage.source.mood({ holds: true })
      const paused = stage.member(0).get('paused')
      await stage.begun('paused')
      stage.member(0).pause()
      await stage.source.next()
      await stage.source.release()
      await sleep(12_000)
      await stage.member(1).delete('paused')
      verdict.all([await stage.member(1).get('paused')], 'paused 2')
      stage.member(0).resume()
      await paused
      await sleep(500)
      verdict.all([await stage.member(2).get('paused')], 'paused 2')
    },
  },
  {
    id: 'fleet-delete',
    title: 'A delete in one process is seen by all within a second',
    loses: 'Users see the new price and the old one in turn.',
    needs: ['fleet', 'delete'],
    async play(stage, verdict) {
      await herd(stage, 'deleted')
      await stage.source.next()
      await stage.member(0).delete('deleted')
      await sleep(1000)
      verdict.all(await herd(stage, 'deleted'), 'deleted 2')
    },
  },
  {
    id: 'fleet-delete-loading',
    title: 'A value whose load began in one process before a delete in another is not kept',
    loses: 'The old price comes back after the change, for the whole ttl.',
    needs: ['fleet', 'delete'],
    async play(stage, verdict) {
      await stage.source.mood({ holds: true })
      const before = stage.member(0).get('deleted')
      await stage.begun('deleted')
      await stage.source.next()
      await stage.member(1).delete('deleted')
      await stage.source.release()
      await before
      await sleep(300)
      verdict.all([await stage.member(2).get('deleted')], 'deleted 2')
    },
  },
  {
    id: 'fleet-tag',
    title: 'A tag that one process invalidates is seen by all within a second',
    loses: 'Users see the change and the old page in turn.',
    needs: ['fleet', 'tags'],
    async play(stage, verdict) {
      const order = { tags: ['one'] }
      await Promise.all(stage.members.map((member) => member.get('tagged', order)))
      await stage.source.next()
      await stage.member(0).invalidateTag('one')
      await sleep(1000)
      verdict.all(await Promise.all(stage.members.map((member) => member.get('tagged', order))), 'tagged 2')
    },
  },
  {
    id: 'fleet-tag-loading',
    title: 'A value whose load began before its tag was invalidated is not kept',
    loses: 'The old page comes back after the change, for the whole ttl.',
    needs: ['fleet', 'tags'],
    async play(stage, verdict) {
      const order = { tags: ['one'] }
      await stage.source.mood({ holds: true })
      const before = stage.member(0).get('tagged', order)
      await stage.begun('tagged')
      await stage.source.next()
      await stage.member(1).invalidateTag('one')
      await stage.source.release()
      await before
      await sleep(300)
      verdict.all([await stage.member(2).get('tagged', order)], 'tagged 2')
    },
  },
]

export const fleet: Group = {
  id: 'fleet',
  title: `In ${PROCESSES} processes over one Redis`,
  checks: [...crowds, ...faults].map((check) => ({ ...check, processes: PROCESSES })),
}
