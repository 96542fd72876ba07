import type { CancelTimer, Runtime } from '../runtime/runtime.ts'
import type { LoadLimitPolicy } from '../policy/policy.ts'
import { answerOf } from '../store/answers.ts'
import { Boards } from '../store/board.ts'
import type { Store } from '../store/store.ts'
import type { PermitSource, QueuedLoad, ReleasePermit } from './permits.ts'
import type { RunningLoad } from './round-loads.ts'
import { LoadQueue } from './load-queue.ts'
import { type OwnLoads, SharedLimit } from './shared-limit.ts'

/**
 * The time between two reports while loads wait, and the part of it for each process; and while none
 * waits, ms.
 */
const CONTENDED = 50
const CONTENDED_EACH = 5
const CALM = 250
const CALM_EACH = 10
/**
 * The time between two reports of a process whose part others still use, and the part of it for each
 * process, ms.
 */
const AGAIN = 15
const AGAIN_EACH = 2
/** No two reports of a process are sent within this time, ms. */
const CLOSEST = 10
/** A process counts as gone after this number of missed reports, and not before this time, ms. */
const MISSED = 4
const LEAST_KEPT = 2000
/** The time for which a load counts whose loader runs on and whose own time is unknown, ms. */
const LINGERS = 1000
/** Weight of one load in the mean time of a load. */
const TIME_WEIGHT = 0.1

/**
 * The permits of `maxLoads: 'auto'`: all processes of the store share a limit on the loads at once from one
 * source, which follows the source. A process whose loads all have a permit reports four times a second, and
 * one without loads reports nothing.
 */
export class AutoPermits implements PermitSource {
  readonly #limit: SharedLimit
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #onLimit: (limit: SharedLimit) => void
  readonly #running = new Set<RunningLoad>()
  readonly #queue = new LoadQueue()
  /**
   * True if a load found no permit since the last report. One in the background does not wait: nobody else
   * tells that it is wanted.
   */
  #turnedAway = false
  /** The mean time of a load, ms; 0 before the first. */
  #meanTime = 0
  /** While the store is away the process has a limit of its own. */
  readonly #alone = new Boards()
  #away = false
  #reporting = false
  #reportedAt = -Infinity
  #timer: { readonly at: number; readonly cancel: CancelTimer } | undefined

  /** `onLimit` is called when the limit has changed. */
  constructor(
    policy: LoadLimitPolicy,
    source: string,
    store: Store,
    runtime: Runtime,
    onLimit: (limit: SharedLimit) => void,
  ) {
    this.#store = store
    this.#runtime = runtime
    this.#onLimit = onLimit
    this.#limit = new SharedLimit(policy, source, runtime.token(), runtime.elapsed())
  }

  get permitAvailable(): boolean {
    return this.#running.size < this.#limit.share
  }

  tryAcquirePermit(force = false): ReleasePermit | undefined {
    if (force || this.permitAvailable) return this.#grant()
    this.#turnedAway = true
    if (!this.#limit.contended) this.#reportWithin(0)
    return undefined
  }

  queueForPermit(load: QueuedLoad): () => void {
    this.#queue.add(load, this.#runtime.elapsed())
    this.#reportWithin(0)
    return () => this.#queue.delete(load)
  }

  #grant(): ReleasePermit {
    const now = this.#runtime.elapsed()
    this.#limit.count(this.#running.size, now)
    const running = this.#limit.begin(now)
    this.#running.add(running)
    this.#reportWithin(this.#calm)
    let released = false
    return (took, lingering) => {
      if (released) return
      released = true
      this.#noteTime(running, took)
      if (lingering === undefined) return this.#end(running)
      // Its source still works for it. Counted at most twice as long as the load took: a loader may
      // never return.
      const cancel = this.#runtime.schedule(() => this.#end(running), took ?? LINGERS)
      void lingering.then(() => {
        cancel()
        this.#end(running)
      })
    }
  }

  #noteTime(running: RunningLoad, took: number | undefined): void {
    this.#limit.end(running, took)
    if (took === undefined) return
    this.#meanTime += this.#meanTime === 0 ? took : TIME_WEIGHT * (took - this.#meanTime)
  }

  #end(running: RunningLoad): void {
    if (!this.#running.has(running)) return
    this.#limit.count(this.#running.size, this.#runtime.elapsed())
    this.#running.delete(running)
    this.#grantQueued()
    if (this.#limit.contended && this.#running.size === 0) this.#reportWithin(0)
  }

  #grantQueued(): void {
    const now = this.#runtime.elapsed()
    while (this.#queue.size > 0 && this.permitAvailable) this.#queue.take(now)?.onPermit(this.#grant())
  }

  /** Refuses the loads whose turn cannot come in time, so that their callers learn it now. */
  #refuseLate(): void {
    if (this.#queue.size === 0) return
    const now = this.#runtime.elapsed()
    const inOrder = this.#queue.rank(now)
    if (!this.#queue.stands(now)) return
    // By the time of loads, not by the rate of permits: a store that does not answer holds permits, but not
    // for long.
    const { share, atOnce, processes, explores } = this.#limit
    const atOnceHere = Math.max(share, atOnce / processes)
    for (const [place, [load, since]] of inOrder.entries()) {
      const turns = (place + 1) / atOnceHere
      // A limit that doubles with each turn has fewer of them.
      const wait = this.#meanTime * (explores ? Math.log2(1 + turns) : turns)
      if (now - since + wait <= load.patience) continue
      this.#queue.delete(load)
      load.refuse(wait)
    }
  }

  #reportWithin(time: number): void {
    const now = this.#runtime.elapsed()
    const at = Math.max(now + time, this.#reportedAt + CLOSEST)
    if (this.#reporting || (this.#timer !== undefined && this.#timer.at <= at)) return
    this.#timer?.cancel()
    this.#timer = { at, cancel: this.#runtime.schedule(() => void this.#report(), at - now) }
  }

  async #report(): Promise<void> {
    this.#timer = undefined
    this.#reporting = true
    this.#reportedAt = this.#runtime.elapsed()
    const changed = await this.#exchange()
    this.#reporting = false
    if (changed) this.#onLimit(this.#limit)
    this.#grantQueued()
    this.#refuseLate()
    const { contended, hasNext, lacks, processes, turnEnds } = this.#limit
    const untilTurn = turnEnds - this.#runtime.elapsed()
    if (hasNext) this.#reportWithin(0)
    else if (lacks) this.#reportWithin(Math.min(untilTurn, AGAIN + AGAIN_EACH * processes))
    else if (contended || this.#queue.size > 0) this.#reportWithin(Math.min(untilTurn, this.#interval))
    else if (this.#running.size > 0) this.#reportWithin(this.#calm)
  }

  async #exchange(): Promise<boolean> {
    const post = this.#limit.post(this.#own, Math.max(LEAST_KEPT, MISSED * this.#interval))
    this.#turnedAway = false
    const answer = await answerOf(() => this.#store.post(post))
    const isAway = answer.kind === 'away'
    const changes = isAway !== this.#away
    this.#away = isAway
    if (changes) this.#limit.changeBoard()
    if (!isAway) return this.#limit.read(answer, this.#own)
    const now = this.#runtime.elapsed()
    const { round } = this.#alone.post({ ...post, heading: undefined }, now)
    const heading = changes ? this.#limit.alone(round) : post.heading
    return this.#limit.read(this.#alone.post({ ...post, heading }, now), this.#own)
  }

  get #own(): OwnLoads {
    // How many were turned away is unknown: a stale key turns away a load at each hit. Twice what runs now
    // lets the part grow fast.
    const turnedAway = this.#turnedAway ? this.#running.size + 1 : 0
    return { running: this.#running, queued: Math.max(this.#queue.size, turnedAway), now: this.#runtime.elapsed() }
  }

  get #interval(): number {
    return this.#limit.contended ? CONTENDED + CONTENDED_EACH * this.#limit.processes : this.#calm
  }

  get #calm(): number {
    return Math.max(CALM, CALM_EACH * this.#limit.processes)
  }
}
