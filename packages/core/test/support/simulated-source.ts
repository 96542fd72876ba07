/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** Discrete events: time jumps from one timer to the next. */
export class SimulatedTime {
  now = 0
  private readonly heap: Timer[] = []

  after(delay: number, run: () => void): void {
    const { heap } = this
    const timer = { at: this.now + delay, run }
    let place = heap.length
    while (place > 0) {
      const parent = (place - 1) >> 1
      const above = heap[parent]
      if (above === undefined || above.at <= timer.at) break
      heap[place] = above
      place = parent
    }
    heap[place] = timer
  }

  runUntil(end: number): void {
    for (let [next] = this.heap; next !== undefined && next.at <= end; [next] = this.heap) {
      this.now = next.at
      this.dropFirst()
      next.run()
    }
    this.now = end
  }

  private dropFirst(): void {
    const { heap } = this
    const moved = heap.pop()
    if (moved === undefined || heap.length === 0) return
    let place = 0
    for (;;) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]]
      if (left === undefined) break
      const [child, step] = right !== undefined && right.at < left.at ? [right, 2] : [left, 1]
      if (child.at >= moved.at) break
      heap[place] = child
      place = 2 * place + step
    }
    heap[place] = moved
  }
}

export type ServiceTimes = 'even' | 'lognormal' | 'slow keys'

export interface SourceOptions {
  /** Workers. All of them together serve 500 loads a second. */
  readonly atOnce: number
  /** The queue at which a load takes ten times as long. */
  readonly knee: number
  /** `even`: ±20 %. `lognormal`: sigma 0.6. `slow keys`: one key in 100 takes 100 times as long. */
  readonly service: ServiceTimes
}

interface Work {
  readonly factor: number
  readonly done: () => void
}

/**
 * A source with a first-in first-out queue in front of its workers. A longer queue makes every load slower (contention,
 * swapping), and work whose client has gone is done all the same.
 */
export class SimulatedSource {
  workers: number
  /** Time of one load without a queue, ms. */
  serviceTime: number
  longestQueue = 0
  private hangsUntil = 0
  private busy = 0
  private readonly queue: Work[] = []

  private readonly time: SimulatedTime
  private readonly random: () => number
  private readonly options: SourceOptions

  constructor(time: SimulatedTime, random: () => number, options: SourceOptions) {
    this.time = time
    this.random = random
    this.options = options
    this.workers = options.atOnce
    this.serviceTime = (options.atOnce / 500) * 1000
  }

  load(key: number, done: () => void): void {
    this.queue.push({ factor: this.options.service === 'slow keys' && key % 100 === 50 ? 100 : 1, done })
    this.longestQueue = Math.max(this.longestQueue, this.queue.length)
    this.work()
  }

  hang(duration: number): void {
    this.hangsUntil = this.time.now + duration
  }

  private work(): void {
    while (this.busy < this.workers) {
      const work = this.queue.shift()
      if (work === undefined) return
      const { factor, done } = work
      this.busy++
      const crowd = 1 + 9 * Math.min(1, this.queue.length / this.options.knee)
      this.finish(this.serviceTime * factor * this.spread() * crowd, done)
    }
  }

  private finish(duration: number, done: () => void): void {
    this.time.after(duration, () => {
      if (this.time.now < this.hangsUntil) return this.finish(this.hangsUntil - this.time.now, done)
      this.busy--
      done()
      this.work()
    })
  }

  private spread(): number {
    if (this.options.service !== 'lognormal') return 0.8 + 0.4 * this.random()
    const normal = Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random())
    return Math.exp(0.6 * normal - 0.18)
  }
}
