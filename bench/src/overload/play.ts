import { setTimeout as sleep } from 'node:timers/promises'
import { withCleanup } from '../run/cleanup.ts'
import { startMember } from '../run/member.ts'
import type { RedisMeter } from '../run/redis-meter.ts'
import { type Calls, perSecond, type Tally, together } from './calls.ts'
import type { Opening, Run } from './member.ts'
import { contenders } from './rows.ts'
import type { Scene } from './scenes.ts'
import type { Moment } from './source.ts'

/** Where the scenes are played. */
export interface Stage {
  readonly redis: string
  readonly look: RedisMeter
  readonly members: number
}

/** One second of the sources together. */
export interface SourceSecond {
  readonly arrived: number
  readonly served: number
  /** The longest queue. */
  readonly queued: number
}

/** What one contender did in one scene, from 0 on. */
export interface Played {
  readonly calls: Calls
  readonly seconds: readonly Tally[]
  readonly source: readonly SourceSecond[]
}

const LEAD_TIME = 200
const MOMENTS_A_SECOND = 10
/** Of the keys by popularity; the others are loaded during the warm-up, as in a service at work. */
const PRIMED = 0.8

let plays = 0

/** New processes for each play: nothing is left of the last one. */
export async function play(scene: Scene, row: string, seed: number, stage: Stage): Promise<Played> {
  return await withCleanup(async (later) => {
    const source = await startMember('overload/source-member.js')
    later(() => source.stop())
    const ports: number[] = []
    for (const traits of scene.sources) ports.push(await source.ask<number>('open', traits))
    const members = await Promise.all(Array.from({ length: stage.members }, () => startMember('overload/member.js')))
    for (const member of members) later(() => member.stop())
    await stage.look.flush()
    plays += 1
    const opening: Opening = { row, redis: stage.redis, namespace: `overload-${plays}`, ttl: scene.ttl, ports }
    await Promise.all(members.map((member) => member.ask('open', opening)))
    if (scene.flush) await prime(scene, row, members)
    const begin = Date.now() + LEAD_TIME
    const zero = begin + scene.warm
    const running = members.map((member, place) =>
      member.ask<Calls>('run', runOf(scene, seed, begin, place, members.length)),
    )
    await sleep(zero - Date.now())
    await source.ask('forget')
    if (scene.flush) await Promise.all([stage.look.flush(), ...members.map((member) => member.ask('flush'))])
    if (scene.change !== undefined) {
      await sleep(zero + scene.change.at - Date.now())
      await source.ask('change', scene.change)
    }
    const calls = sinceZero(together(await Promise.all(running)), scene.warm)
    const moments = await source.ask<readonly (readonly Moment[])[]>('moments')
    const last = Math.ceil(scene.duration / 1000)
    return { calls, seconds: perSecond(calls, last, isPlain(scene)), source: sourceSeconds(moments, last) }
  })
}

type Members = readonly Awaited<ReturnType<typeof startMember>>[]

async function prime({ traffic }: Scene, row: string, members: Members): Promise<void> {
  const ranks = Array.from({ length: traffic.keys * PRIMED }, (_, place) => place + 1)
  const isLocal = contenders[row]?.local === true
  const shareOf = (place: number): number[] => ranks.filter((rank) => isLocal || rank % members.length === place)
  await Promise.all(members.map((member, place) => member.ask('prime', shareOf(place))))
}

function runOf({ traffic, warm, duration }: Scene, seed: number, begin: number, place: number, members: number): Run {
  return { ...traffic, rate: traffic.rate / members, seed: seed * 100 + place, begin, duration: warm + duration }
}

function sinceZero(calls: Calls, warm: number): Calls {
  return { ...calls, at: calls.at.map((at) => at - warm) }
}

/** Not the keys that take long or do not exist: no cache can answer these well. */
function isPlain({ sources }: Scene): (rank: number) => boolean {
  return (rank) =>
    sources.every(({ slowRank, absentEvery = Infinity }) => rank !== slowRank && rank % absentEvery !== 0)
}

function sourceSeconds(moments: readonly (readonly Moment[])[], last: number): readonly SourceSecond[] {
  const at = (place: number, what: keyof Moment): number =>
    moments.reduce((sum, all) => sum + (all[place]?.[what] ?? 0), 0)
  return Array.from({ length: last }, (_, second) => {
    const places = Array.from({ length: MOMENTS_A_SECOND }, (__, place) => second * MOMENTS_A_SECOND + place)
    const total = (what: keyof Moment): number => places.reduce((sum, place) => sum + at(place, what), 0)
    const queued = Math.max(...places.map((place) => at(place, 'queued')))
    return { arrived: total('arrived'), served: total('served'), queued }
  })
}
