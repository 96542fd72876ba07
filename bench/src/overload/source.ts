/** What a source is like. */
export interface SourceTraits {
  /** The loads that it works on at once. */
  readonly atOnce: number
  /** The loads that it answers in a second while its queue is short. */
  readonly perSecond: number
  /** A key that takes 5 s, whatever else there is to do. */
  readonly slowRank?: number | undefined
  /** One key in this number does not exist: the source answers 404, in a tenth of the time. */
  readonly absentEvery?: number | undefined
}

/** A change of capacity while the source runs, as factors. */
export interface Change {
  readonly workers: number
  readonly time: number
}

/** What a source did in 100 ms: the loads that run and wait at their end, and those that arrived and were answered in them. */
export interface Moment {
  readonly running: number
  readonly queued: number
  readonly arrived: number
  readonly served: number
}

/** Tells the client that the load is done. */
export type Answer = (found: boolean) => void

interface Load {
  readonly rank: number
  readonly answer: Answer
  queued: boolean
}

interface Running {
  readonly load: Load
  readonly end: number
}

const SLOW_KEY_MS = 5000
/** s of work */
const HEALTHY_QUEUE = 0.1
const MOST_SLOWDOWN = 10

/**
 * A database under load, as a model. `atOnce` workers serve one queue in its order; a load takes `atOnce / perSecond` seconds, so
 * a healthy source answers `perSecond` loads a second, whatever `atOnce` is. It stays healthy while the queue is the work of at
 * most 100 ms. Beyond that a load takes longer, in proportion to the queue, as with lock contention and swapping: with 1 s of
 * work in the queue ten times as long, and no longer than that. A source of 500 loads a second answers 50 then. It works on
 * loads whose client has gone, unless the client drops a queued one.
 *
 * Time is that of the caller: a worker begins its next load when the last one ended, not when a late timer fired.
 */
export class Source {
  readonly #traits: SourceTraits
  #workers: number
  #time: number
  /** By end. */
  readonly #running: Running[] = []
  #queue: Load[] = []
  #first = 0
  #dropped = 0
  #arrived = 0
  #served = 0

  constructor(traits: SourceTraits) {
    this.#traits = traits
    this.#workers = traits.atOnce
    this.#time = (traits.atOnce / traits.perSecond) * 1000
  }

  get #queued(): number {
    return this.#queue.length - this.#first - this.#dropped
  }

  /** When the next load ends; undefined: none runs. */
  get nextEnd(): number | undefined {
    return this.#running[0]?.end
  }

  /** @returns drops the load, if it is still queued. */
  arrive(rank: number, now: number, answer: Answer): () => void {
    this.advance(now)
    const load = { rank, answer, queued: true }
    this.#arrived += 1
    this.#queue.push(load)
    this.#begin(now)
    return () => this.#drop(load)
  }

  /** Answers all loads that have ended by now. */
  advance(now: number): void {
    for (let next = this.#running[0]; next !== undefined && next.end <= now; next = this.#running[0]) {
      this.#running.shift()
      this.#served += 1
      next.load.answer(!this.#isAbsent(next.load.rank))
      this.#begin(next.end)
    }
  }

  /** Running loads are not changed. With fewer workers, those that are too many finish their loads first. */
  change({ workers, time }: Change, now: number): void {
    this.advance(now)
    this.#workers = Math.max(1, Math.round(this.#workers * workers))
    this.#time *= time
    this.#begin(now)
  }

  /** What happened since the last call. */
  look(now: number): Moment {
    this.advance(now)
    const running = this.#running.length
    const seen: Moment = { running, queued: this.#queued, arrived: this.#arrived, served: this.#served }
    this.#arrived = 0
    this.#served = 0
    return seen
  }

  #begin(now: number): void {
    while (this.#running.length < this.#workers && this.#first < this.#queue.length) {
      const load = this.#queue[this.#first] as Load
      this.#first += 1
      if (load.queued) this.#run(load, now + this.#timeOf(load.rank))
      else this.#dropped -= 1
    }
    // Dropped loads and those that have begun leave the list, in pieces that are worth a copy.
    if (this.#first > 1000 && this.#first * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#first)
      this.#first = 0
    }
  }

  #run(load: Load, end: number): void {
    load.queued = false
    let place = this.#running.length
    while (place > 0 && (this.#running[place - 1]?.end ?? 0) > end) place -= 1
    this.#running.splice(place, 0, { load, end })
  }

  #timeOf(rank: number): number {
    if (rank === this.#traits.slowRank) return SLOW_KEY_MS
    const healthy = this.#traits.perSecond * HEALTHY_QUEUE
    const slowdown = Math.min(MOST_SLOWDOWN, Math.max(1, this.#queued / healthy))
    return (this.#isAbsent(rank) ? 0.1 : 1) * this.#time * slowdown
  }

  #isAbsent(rank: number): boolean {
    const { absentEvery } = this.#traits
    return absentEvery !== undefined && rank % absentEvery === 0
  }

  #drop(load: Load): void {
    if (!load.queued) return
    load.queued = false
    this.#dropped += 1
  }
}
