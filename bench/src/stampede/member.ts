// One process of the fleet: opens whatever it is told, and sends callers at it.
import { setTimeout as sleep } from 'node:timers/promises'
import { openWith } from '../contenders/cattlegrid.ts'
import type { Open, Opened } from '../contenders/contender.ts'
import * as naive from '../contenders/naive-lock.ts'
import { peers } from '../contenders/peers.ts'
import { serveAsMember } from '../run/member.ts'
import { floors } from './floors.ts'
import type { Answers, Burst, Game, Stream } from './game.ts'

const contenders: Readonly<Record<string, () => Promise<Open>>> = {
  cattlegrid: async () => openWith({}),
  'cattlegrid, short lease': async () => openWith({ lease: { duration: '1s' } }),
  'cattlegrid, early refresh': async () => openWith({ earlyRefresh: { before: '300ms' } }),
  'naive lock': async () => naive.open,
  'naive lock, one flight': async () => naive.openBehindFlight,
  ...Object.fromEntries(Object.entries(floors).map(([name, open]) => [name, async () => open])),
}

/** How many crowds come before what is measured, how large they are, and for how long they come at most, ms. */
const WARM_UPS = 30
const CROWD = 200
const WARMED_UP_IN = 1000

let cache: Opened | undefined
let warming = false
let game: Game | undefined
let loads: number[] = []
let loaded: number[] = []

async function load(key: string): Promise<unknown> {
  loads.push(now())
  await sleep(warming ? 1 : (game?.loadTime ?? 0))
  loaded.push(now())
  if (game?.fails === true) throw new Error('the origin has nothing to give')
  return { key, text: 'x'.repeat(game?.bytes ?? 100) }
}

/** A clock that all processes of this machine share, with fractions of a millisecond. */
function now(): number {
  return performance.timeOrigin + performance.now()
}

/** How a call ended; a timer for each call would be measured with it, so nobody waits for one that does not end. */
interface Ended {
  took: number
  end: number
  ok: boolean
}

async function time(key: string): Promise<Ended> {
  const began = now()
  const ok = await (cache as Opened).get(key).then(
    () => true,
    () => false,
  )
  const end = now()
  return { took: end - began, end, ok }
}

/** The compiler is to have seen the code: what a herd meets is a service at work. The keys are the same in all processes. */
async function warmUp(opened: Opened): Promise<void> {
  warming = true
  const end = now() + WARMED_UP_IN
  for (let round = 0; round < WARM_UPS && now() < end; round += 1) {
    const crowd = Array.from({ length: CROWD }, () => opened.get(`warm-up-${round}`).catch(() => undefined))
    await Promise.all(crowd)
  }
  warming = false
}

/** All that has ended when everything has, or at `lateAt`. */
async function gather(
  asked: number,
  calls: Promise<void>[],
  ended: readonly Ended[],
  lateAt: number,
): Promise<Answers> {
  await Promise.race([Promise.all(calls), sleep(lateAt - now())])
  const done = [...ended]
  // What was only begun, loads and commits behind the callers' backs, is part of the game.
  await sleep(100 + (game?.stale === 0 ? 0 : (game?.loadTime ?? 0)))
  return {
    loads,
    loaded,
    times: done.map(({ took }) => took),
    failed: done.filter(({ ok }) => !ok).length,
    unanswered: Math.max(0, asked - done.length),
    lastAt: Math.max(0, ...done.map(({ end }) => end)),
  }
}

// Some write behind their callers and find the connection closed by the next game: no reason to end the process.
process.on('unhandledRejection', () => undefined)

serveAsMember({
  async open(name: string, next: Game) {
    await cache?.close()
    game = next
    const open = (await contenders[name]?.()) ?? (await peers[name]?.())?.open
    if (open === undefined) throw new Error(`there is no contender called ${name}`)
    cache = await open({ load, ttl: next.ttl, stale: next.stale, redis: next.redis, namespace: next.namespace })
    await warmUp(cache)
  },
  prime: async (key: string) => void (await cache?.get(key)),
  async burst({ keys, callers, at, patience }: Burst) {
    loads = []
    loaded = []
    await sleep(Math.max(0, at - now()))
    const ended: Ended[] = []
    const calls = keys.flatMap((key) => Array.from({ length: callers }, async () => void ended.push(await time(key))))
    return await gather(calls.length, calls, ended, at + patience)
  },
  /** What began so far, while a burst goes on. */
  loads: () => loads,
  async stream({ key, callers, pause, at, duration }: Stream) {
    loads = []
    loaded = []
    await sleep(Math.max(0, at - now()))
    const ended: Ended[] = []
    const caller = async (): Promise<void> => {
      // Spread, so that the callers do not come as one.
      await sleep(Math.random() * pause)
      while (now() < at + duration) {
        ended.push(await time(key))
        await sleep(pause)
      }
    }
    return await gather(0, Array.from({ length: callers }, caller), ended, at + duration + 5000)
  },
  close: async () => {
    await cache?.close()
    cache = undefined
  },
})
