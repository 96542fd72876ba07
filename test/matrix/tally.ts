import type { Lookup } from '@cattlegrid/core'

/** Callers of one key, and over how much time they come, ms: who comes after a load must not begin another. */
export interface Crowd {
  readonly callers: number
  readonly spread: number
}

interface Ways {
  readonly getOrSet: () => Promise<unknown>
  readonly lookup: () => Promise<Lookup<unknown>>
  readonly claim: () => Promise<unknown>
}

/** Nobody waits as long as this for a load of a few ms. */
const HANGS = 15_000

/** What the callers of a key got. Every second one asks by `lookup`, which can tell how the value came; its leader waits for the commit too. The others ask by `getOrSet` and `claim` in turn. */
export class KeyTally {
  /** How many lookups were answered in which way, such as `fresh from outage`. */
  readonly answers: Record<string, number> = {}
  /** How many calls of `getOrSet`, and claims, had a value. */
  values = 0
  /** How many calls of any kind failed, by code. */
  readonly errors: Record<string, number> = {}
  /** How many calls were not answered at all. */
  hung = 0
  /** The slowest answer of `getOrSet`, and of `lookup` and claims, by wave, ms. */
  readonly slowest: number[] = []
  readonly slowestLookup: number[] = []
  /** Loads, by wave. */
  readonly loads: number[] = []
  /** Steps of the store that were not answered in time, by wave. */
  readonly late: number[] = []

  loaded(wave: number): void {
    this.loads[wave] = (this.loads[wave] ?? 0) + 1
  }

  missed(wave: number): void {
    this.late[wave] = (this.late[wave] ?? 0) + 1
  }

  failed(error: unknown): void {
    count(this.errors, (error as NodeJS.ErrnoException).code ?? String(error))
  }

  async ask(wave: number, { callers, spread }: Crowd, ways: Ways): Promise<void> {
    this.loads[wave] ??= 0
    const calls = Array.from({ length: callers }, async (_, caller) => {
      await rest((spread * caller) / callers)
      // The leader of a claim waits for its commit, as that of a lookup does.
      if (caller % 2 === 1) await this.#time(this.slowestLookup, wave, ways.lookup, this.#looked)
      else if (caller % 4 === 0) await this.#time(this.slowestLookup, wave, ways.claim, this.#valued)
      else await this.#time(this.slowest, wave, ways.getOrSet, this.#valued)
    })
    await Promise.all(calls)
  }

  readonly #looked = ({ status, from }: Lookup<unknown>): void => {
    count(this.answers, `${status} from ${from}`)
  }

  readonly #valued = (): void => {
    this.values += 1
  }

  async #time<T>(times: number[], wave: number, call: () => Promise<T>, note: (answer: T) => void): Promise<void> {
    const begun = performance.now()
    let timer: NodeJS.Timeout | undefined
    const hanging = new Promise<typeof HANGS>((resolve) => {
      timer = setTimeout(resolve, HANGS, HANGS)
    })
    try {
      const answer = await Promise.race([call().then((value) => ({ value })), hanging])
      if (answer === HANGS) this.hung += 1
      else note(answer.value)
    } catch (error) {
      this.failed(error)
    }
    clearTimeout(timer)
    times[wave] = Math.max(times[wave] ?? 0, performance.now() - begun)
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
