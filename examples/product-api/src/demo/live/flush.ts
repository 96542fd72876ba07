import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis } from '../../strategies/redis-client.ts'
import type { Action } from './action.ts'
import { FlushSide, type FlushResult, type FlushSecond, type FlushSideName } from './flush-side.ts'

const SIDES: readonly FlushSideName[] = ['limited', 'unlimited']
const WARM_S = 4
const WATCHED_S = 30

/** One second of both sides, in the order of `SIDES`. */
export interface FlushTick {
  /** Seconds since the flush; before it less than 0. */
  readonly at: number
  readonly sides: readonly FlushSecond[]
}

export interface FlushShown {
  /** What happens now, or what came of it. */
  readonly told: string
  readonly ticks: readonly FlushTick[]
}

export interface FlushOptions {
  readonly redisUrl: string
  readonly onSpawn: (stop: () => Promise<void>) => void
}

/** "Flush everything": two fleets with a source each lose all their keys. They run only while it does, so that the other sides have the machine. */
export class Flush {
  shown: FlushShown | undefined
  readonly #options: FlushOptions
  readonly #listeners = new Set<() => void>()
  #plays = 0

  constructor(options: FlushOptions) {
    this.#options = options
  }

  get action(): Action {
    return {
      id: 'flush',
      label: 'Flush everything',
      explanation: `starts two processes a side, deletes all their keys, and counts for ${WATCHED_S} s`,
      run: async () => ({ message: await this.#play() }),
    }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** New processes, sources and keys for each press: nothing is left of the last one. */
  async #play(): Promise<string> {
    this.#plays += 1
    const { redisUrl, onSpawn } = this.#options
    const namespace = `product-api-demo-${process.pid}-flush-${this.#plays}`
    const sides = SIDES.map((name) => new FlushSide(name))
    this.#show('Starting two processes for each side …', [])
    try {
      const start = (side: FlushSide): Promise<void> =>
        side.start({ redisUrl, namespace: `${namespace}-${side.name}`, onSpawn })
      await Promise.all(sides.map(start))
      for (const side of sides) side.takeSecond()
      for (let at = -WARM_S; at <= WATCHED_S; at += 1) {
        await this.#second(at, sides)
        if (at === 0) await deleteAll(redisUrl, `${namespace}-*`, sides)
      }
      const told = tellFlush(sides.map(({ result }) => result))
      this.#show(told)
      return told
    } catch (error) {
      this.#show('It failed; the log says why.')
      throw error
    } finally {
      await Promise.all(sides.map((side) => side.stop()))
    }
  }

  async #second(at: number, sides: readonly FlushSide[]): Promise<void> {
    await sleep(1_000)
    const tick = { at, sides: sides.map((side) => side.takeSecond()) }
    const told = at < 0 ? 'All keys are cached. The flush comes next.' : `Flushed. Counting for ${WATCHED_S} s …`
    this.#show(told, [...(this.shown?.ticks ?? []), tick])
  }

  #show(told: string, ticks: readonly FlushTick[] = this.shown?.ticks ?? []): void {
    this.shown = { told, ticks }
    for (const listener of this.#listeners) listener()
  }
}

/** What FLUSHALL would do, to the keys of both sides alone. */
async function deleteAll(redisUrl: string, pattern: string, sides: readonly FlushSide[]): Promise<void> {
  const client = await connectRedis(redisUrl)
  try {
    for await (const keys of client.scanIterator({ MATCH: pattern, COUNT: 1_000 }))
      if (keys.length > 0) await client.unlink(keys)
  } finally {
    client.destroy()
  }
  for (const side of sides) side.flushed()
}

/** The sentence of the log, with the result of each side in the order of `SIDES`. */
export function tellFlush([limited, unlimited]: readonly FlushResult[]): string {
  const of = ({ ended = 0, good = 0, mostAtSource = 0 }: Partial<FlushResult> = {}): string =>
    `${Math.floor((100 * good) / Math.max(1, ended))} % of the calls had an answer within 2 s, at most ${mostAtSource} loads were at the source`
  return `Flushed everything. cattlegrid: ${of(limited)}. With maxLoads: false: ${of(unlimited)}.`
}
