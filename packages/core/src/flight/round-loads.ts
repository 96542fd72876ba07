/** A load that runs. Times in ms. */
export interface RunningLoad {
  readonly since: number
  /** The round in which it began: its time tells of the limit of that round. */
  readonly round: number
  readonly sampled: boolean
}

/** What one process has seen of its loads under the limit of one round. */
export class RoundLoads {
  /** True when the process knew of more wants than the limit allows. */
  bound = false
  #round = 0
  /** Loads × ms. */
  #work = 0
  #began: number
  #countedAt: number
  #times: number[] = []
  /** The loads that began in this round, and those of them that are sampled. */
  #begun = 0
  #sampled = 0
  readonly #samples: number

  /** `samples`: the most that all processes together take. */
  constructor(samples: number, now: number) {
    this.#samples = samples
    this.#began = now
    this.#countedAt = now
  }

  get round(): number {
    return this.#round
  }

  /** Counts the time in which `running` loads have run since the last call. */
  count(running: number, now: number): void {
    this.#work += running * (now - this.#countedAt)
    this.#countedAt = now
  }

  /** A load begins. `limit`: of all processes together, as many as `processes`. */
  begin(limit: number, processes: number, now: number): RunningLoad {
    // The first loads of a round, or one in so many. All of them end: a median of loads that are replaced by
    // others while they run would never be known.
    const isNext = this.#begun % Math.max(1, Math.floor(limit / this.#samples)) === 0
    const sampled = isNext && this.#sampled < this.#mostOf(processes)
    this.#begun += 1
    if (sampled) this.#sampled += 1
    return { since: now, round: this.#round, sampled }
  }

  /** A load has ended that took so long, ms. */
  noteTime({ round, sampled }: RunningLoad, took: number): void {
    if (sampled && round === this.#round && this.#times.length < this.#samples) this.#times.push(took)
  }

  /** A load has ended whose time tells nothing: it failed, or was not needed. Another one is the sample. */
  forget({ round, sampled }: RunningLoad): void {
    if (sampled && round === this.#round) this.#sampled -= 1
  }

  /** What a process tells of them that is one of `processes`, counted up to `now`. */
  told(running: ReadonlySet<RunningLoad>, processes: number, now: number): ToldLoads {
    const sampled = [...running].filter((load) => load.sampled && load.round === this.#round)
    const most = this.#mostOf(processes)
    const elapsed = now - this.#began
    return {
      round: this.#round,
      mean: elapsed > 0 ? this.#work / elapsed : running.size,
      bound: this.bound,
      times: this.#times.slice(0, most),
      ages: sampled.slice(0, most).map(({ since }) => now - since),
    }
  }

  /** The samples of one process. */
  #mostOf(processes: number): number {
    return Math.ceil(this.#samples / processes)
  }

  /** The next round begins with the last count. */
  next(round: number): void {
    this.#round = round
    this.#times = []
    this.#begun = 0
    this.#sampled = 0
    this.#work = 0
    this.#began = this.#countedAt
    this.bound = false
  }
}

/** What a process tells the others of its loads in a round. Times in ms. */
export interface ToldLoads {
  readonly round: number
  /** The mean number of loads that ran at once. */
  readonly mean: number
  readonly bound: boolean
  /** Of sampled loads: the times of those that have ended, and the ages of those that run. */
  readonly times: readonly number[]
  readonly ages: readonly number[]
}
