import { setTimeout as sleep } from 'node:timers/promises'
import { withCleanup, type Later } from '../run/cleanup.ts'
import type { Member } from '../run/member.ts'
import type { StartApp } from './app-members.ts'
import type { OriginTraits } from './origin.ts'
import { proxies } from './proxies.ts'
import type { Load } from './wrk.ts'

/** How long the load lasts that counts, and the one before it. */
const SECONDS = 2
/** Behind a name: the same app while what it serves is stale. */
export const STALE = ', stale'
/** The ttl of what is to be stale, ms. */
export const STALE_AFTER = 100
/** Longer than the load lasts, ms. */
const REFRESH_TIME = 20_000

interface Job {
  readonly traits: OriginTraits
  readonly load: Load
  readonly start: StartApp
}

interface Player {
  readonly url: string
  /** Used so far, ms. */
  readonly cpu: () => number
}

/** The requests that a server answers in a second, and its CPU for one of them, µs. A proxy stands in front of a plain Fastify. */
export async function requestRate(
  called: string,
  { traits, load, start }: Job,
  smoke: boolean,
): Promise<Readonly<Record<string, number>>> {
  const isStale = called.endsWith(STALE)
  const lives = isStale ? { ...traits, ttl: STALE_AFTER, stale: traits.ttl } : traits
  return await withCleanup(async (later) => {
    const member = await start(later)
    const { url, cpu } = await startPlayer(called.replace(STALE, ''), lives, member, later)
    await (await fetch(url)).text()
    if (isStale) await becomeStale(member)
    if (!smoke) await load(url, SECONDS)
    const seconds = smoke ? 0 : SECONDS
    const before = cpu()
    const rate = await load(url, seconds)
    return { rate, cpu: ((cpu() - before) * 1000) / (rate * seconds) }
  })
}

/** Waits until what lives for `STALE_AFTER` is stale. Its refresh then runs as long as it is asked for. */
export async function becomeStale(member: Pick<Member, 'ask'>): Promise<void> {
  await sleep(2 * STALE_AFTER)
  await member.ask('takes', REFRESH_TIME)
}

async function startPlayer(name: string, traits: OriginTraits, member: Member, later: Later): Promise<Player> {
  const proxy = proxies[name]
  const port = await member.ask<number>('open', proxy === undefined ? name : 'Fastify, sends a string', traits)
  const program = await proxy?.start(port)
  if (program !== undefined) later(() => program.stop())
  const url = `http://127.0.0.1:${program?.port ?? port}/thing/1`
  return { url, cpu: program === undefined ? () => member.cpu() : () => program.cpu() }
}
