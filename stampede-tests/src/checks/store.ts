import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../member-client.js'
import type { Check, Group } from '../check.js'
import type { Stage } from '../stage.js'

const PROCESSES = 2
/** A caller that waits longer has gone. */
const PATIENCE = 10_000

const both = async (stage: Stage, key: string, callers = 20): Promise<readonly Answer[]> =>
  (await Promise.all(stage.members.map((member) => member.herd(key, callers)))).flat()

const checks: readonly Check[] = [
  {
    id: 'store-frozen',
    title: 'Callers are answered within 10 s while Redis accepts connections and says nothing',
    loses: 'A Redis that hangs makes the whole API hang.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await both(stage, 'before')
      stage.redis.pause()
      verdict.allAnswered(await both(stage, 'frozen'), PATIENCE)
    },
  },
  {
    id: 'store-frozen-value',
    title: 'Callers get their value from the source while Redis says nothing',
    loses: 'A cache that is silent is an outage, although the source is well.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await both(stage, 'before')
      stage.redis.pause()
      verdict.all(await both(stage, 'frozen'), 'frozen 1')
    },
  },
  {
    id: 'store-frozen-herd',
    title: 'A crowd costs at most one load a process while Redis says nothing',
    loses: 'A cache that is silent lets the whole crowd through to the source.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await both(stage, 'before')
      stage.redis.pause()
      await stage.source.mood({ took: 300 })
      await both(stage, 'frozen')
      const { began } = await stage.source.count('frozen')
      verdict.is('the source was asked', began > 0, true)
      verdict.atMost('loads', began, PROCESSES)
    },
  },
  {
    id: 'store-killed',
    title: 'Callers get their value from the source while Redis is gone, and no process ends',
    loses: 'A failover of Redis takes the pods with it.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await both(stage, 'before')
      await stage.redis.kill()
      verdict.all(await both(stage, 'killed'), 'killed 1')
      await sleep(1000)
      verdict.is('processes that live', stage.members.filter(({ lives }) => lives).length, PROCESSES)
    },
  },
  {
    id: 'store-back',
    title: 'Processes share again within 15 s after Redis is back',
    loses: 'Pods must be restarted after each failover.',
    needs: ['fleet'],
    async play(stage, verdict) {
      await both(stage, 'before')
      await stage.redis.kill()
      await both(stage, 'gone')
      await stage.redis.startAgain()
      let shared = false
      for (let turn = 0; turn < 30 && !shared; turn += 1) {
        await sleep(500)
        const key = `back-${turn}`
        await stage.member(0).get(key)
        await sleep(50)
        await stage.member(1).get(key)
        shared = (await stage.source.count(key)).began === 1
      }
      verdict.is('they share', shared, true)
    },
  },
  {
    id: 'store-latency',
    title: 'A cold key costs one load where each command takes 200 ms',
    loses: 'A Redis in another zone, or one under load, makes each pod load.',
    needs: ['fleet'],
    stage: { latency: 200 },
    async play(stage, verdict) {
      await stage.source.mood({ took: 2000 })
      verdict.all(await both(stage, 'far'), 'far 1')
      verdict.is('loads', (await stage.source.count('far')).began, 1)
    },
  },
  {
    id: 'store-cut',
    title: 'Callers get their value when connections are cut in the middle of a command',
    loses: 'A blink of the network is an error for users, or a lock that nobody holds.',
    needs: ['fleet'],
    stage: { latency: 100 },
    async play(stage, verdict) {
      await both(stage, 'before')
      const answers = both(stage, 'cut')
      await sleep(50)
      stage.relay?.cut()
      verdict.all(await answers, 'cut 1')
      verdict.is('processes that live', stage.members.filter(({ lives }) => lives).length, PROCESSES)
    },
  },
  {
    id: 'store-full',
    title: 'Callers get their value while Redis is full and rejects what is stored',
    loses: 'A Redis at its maxmemory is an outage.',
    needs: ['fleet'],
    stage: { redisArgs: ['--maxmemory', '1', '--maxmemory-policy', 'noeviction'] },
    async play(stage, verdict) {
      verdict.all(await both(stage, 'full'), 'full 1')
    },
  },
]

export const store: Group = {
  id: 'store',
  title: 'When Redis is not well',
  checks: checks.map((check) => ({ ...check, processes: PROCESSES })),
}
