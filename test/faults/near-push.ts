import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { TestProcess } from '../fleet/process.ts'

/** What a member does with each of the keys. */
export interface Command {
  /** `know`: until it has the value near. `watch`: until it is told that the value is another one. */
  readonly do: 'write' | 'know' | 'watch'
  readonly keys: readonly string[]
  /** 0 is written by `delete`. */
  readonly value: number
}

/** Times in ms, of a clock that the processes share. */
export interface Written {
  readonly began: number
  readonly settled: number
}

export interface Seen {
  /** When the last answer was asked for that was still the old one; 0 where there was none. */
  readonly lastOld: number
  readonly firstNew: number
}

export interface Round {
  readonly written: readonly Written[]
  /** By reader, then by key. */
  readonly seen: readonly (readonly Seen[])[]
}

export interface NearFleetOptions {
  readonly url: string
  /** The way of the readers' invalidations. Default: as `url`. */
  readonly earUrl?: string
  readonly maxAge: string
  readonly readers: number
  /** The directory of this file. */
  readonly folder: string
}

/** One process that writes, and others that have what was written in their near caches. */
export class NearFleet {
  readonly #writer: TestProcess<Command>
  readonly #readers: readonly TestProcess<Command>[]
  #value = 0

  private constructor(writer: TestProcess<Command>, readers: readonly TestProcess<Command>[]) {
    this.#writer = writer
    this.#readers = readers
  }

  static async start({ url, earUrl = url, maxAge, readers, folder }: NearFleetOptions): Promise<NearFleet> {
    const env = { NEAR_REDIS: url, NEAR_NAMESPACE: `near-${randomUUID()}`, NEAR_MAX_AGE: maxAge }
    const start = (ear: string): Promise<TestProcess<Command>> =>
      TestProcess.start(join(folder, 'near-push-member.ts'), { ...env, NEAR_EAR: ear })
    const [writer, ...others] = await Promise.all([start(url), ...Array.from({ length: readers }, () => start(earUrl))])
    return new NearFleet(writer, others)
  }

  /** Lets every reader know the keys, then invalidates them. `between`: what happens just before that. */
  async round(keys: readonly string[], between: () => Promise<unknown> = async () => {}): Promise<Round> {
    const value = (this.#value += 1)
    await this.#writer.tell({ do: 'write', keys, value })
    await Promise.all(this.#readers.map((reader) => reader.tell({ do: 'know', keys, value })))
    await between()
    const watching = Promise.all(this.#readers.map((reader) => reader.tell<Seen[]>({ do: 'watch', keys, value })))
    // They look before it happens, or the first look would be taken for the news.
    await new Promise((resolve) => setTimeout(resolve, 5))
    const written = await this.#writer.tell<Written[]>({ do: 'write', keys, value: 0 })
    return { written, seen: await watching }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#writer, ...this.#readers].map((member) => member.kill()))
  }
}

/** How long after each invalidation was called each reader knew of it, ms, in ascending order. */
export function delaysOf(rounds: readonly Round[]): number[] {
  return rounds
    .flatMap(({ written, seen }) =>
      seen.flatMap((keys) => keys.map(({ firstNew }, index) => firstNew - (written[index]?.began ?? 0))),
    )
    .toSorted((a, b) => a - b)
}

/** How many old answers were asked for later than `grace` ms after their invalidation was acknowledged: by key and reader, one at most. */
export function lateAnswers({ written, seen }: Round, grace: number): number {
  return seen.flat().filter(({ lastOld }, index) => lastOld > (written[index % written.length]?.settled ?? 0) + grace)
    .length
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** As the test and the script print it. */
export function sayDelays(delays: readonly number[]): string {
  const [p50, p99, most] = [percentile(delays, 0.5), percentile(delays, 0.99), delays.at(-1) ?? Number.NaN]
  const times = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${most.toFixed(1)} ms`
  return `an invalidation in one process is seen in another: ${times} (${delays.length} times)`
}
