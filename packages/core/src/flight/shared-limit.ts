import type { LoadLimit, LoadLimitPolicy, LoadWindow } from '../policy/policy.ts'
import type { Board, Post } from '../store/board.ts'
import { fairShare, leftByOthers, untilNextTurn } from './load-share.ts'
import { decodeReport, encodeReport, type LoadReport } from './load-report.ts'
import { RoundLoads, type RunningLoad } from './round-loads.ts'

/** A process without a part asks for it this time after a turn has begun, ms. */
const HANDOVER = 10
/** What a process may begin by its own report, as a multiple of what ran in it at once lately. */
const HEADROOM = 1.25

/** What a process has to report. */
export interface OwnLoads {
  readonly running: ReadonlySet<RunningLoad>
  readonly queued: number
  /** By `elapsed()`. */
  readonly now: number
}

/**
 * The limit on loads at once from one source, as one process knows it from the reports of all. Each report
 * says what its process may begin; a process begins no more loads than that, and than the others left when it
 * was posted. So all processes together keep the limit, but for the first load of one that has not reported
 * yet. Whoever finds that the reports tell enough writes the next limit.
 */
export class SharedLimit {
  readonly #board: string
  readonly #process: string
  readonly #policy: LoadLimitPolicy
  #state: LoadLimit
  readonly #loads: RoundLoads
  /** True once the round is one of the board that is read now. */
  #isKnown = false
  /** The last reports of the other processes. */
  #others: ReadonlyMap<string, LoadReport> = new Map()
  /** The lead of the store's clock over `elapsed()`: processes that go by turns need one clock. */
  #storeLead = 0
  /** As the last report said. */
  #mayBegin = 0
  /** Before the first report one load may begin: most processes never have two at once. */
  #share = 1
  #contended = false
  #lacks = false
  /** By `elapsed()`. */
  #turnEnds = Infinity
  /** The most loads that ran at once since the last report, and between that and the one before. */
  #peak = 0
  #lastPeak = 0
  #next: LoadLimit | undefined

  constructor(policy: LoadLimitPolicy, source: string, process: string, now: number) {
    this.#policy = policy
    this.#state = policy.first
    this.#board = `loads:${source}`
    this.#process = process
    this.#loads = new RoundLoads(policy.samples, now)
  }

  /** The most loads at once in this process, for now. */
  get share(): number {
    return this.#share
  }

  /** The most loads at once in all processes. */
  get atOnce(): number {
    return Math.max(1, Math.floor(this.#state.limit))
  }

  /** The time of a load while the source is not overloaded, ms; 0: not known yet. */
  get typical(): number {
    return this.#state.base ?? 0
  }

  /**
   * True until the first sign of a queue at the source: what it can take is not known, and the limit
   * grows fast.
   */
  get explores(): boolean {
    return this.#state.growth >= this.#policy.first.growth
  }

  /** The number of processes that share the limit. */
  get processes(): number {
    return this.#others.size + 1
  }

  /** True while more loads are wanted than the limit allows. */
  get contended(): boolean {
    return this.#contended
  }

  /** True when the next report has a limit for all. */
  get hasNext(): boolean {
    return this.#next !== undefined
  }

  /** True when more is due to this process than it has: the others have not yet seen that it wants it. */
  get lacks(): boolean {
    return this.#lacks
  }

  /** The moment at which the parts change while loads wait, by `elapsed()`. */
  get turnEnds(): number {
    return this.#turnEnds
  }

  /** Counts the time in which `running` loads have run since the last call. */
  count(running: number, now: number): void {
    this.#loads.count(running, now)
    if (running > this.#peak) this.#peak = running
  }

  /** A load begins. */
  begin(now: number): RunningLoad {
    return this.#loads.begin(this.#state.limit, this.processes, now)
  }

  /** A load has ended that took so long, ms; undefined: its time tells nothing of the source. */
  end(load: RunningLoad, took: number | undefined): void {
    if (took === undefined) this.#loads.forget(load)
    else this.#loads.noteTime(load, took)
  }

  /** The next report. */
  post(own: OwnLoads, keepFor: number): Post {
    const report = this.#report(own)
    const wants = new Map(this.#others).set(this.#process, report)
    this.#mayBegin = Math.min(
      fairShare(this.#process, wants, this.atOnce, own.now + this.#storeLead),
      this.#foreseen(own),
    )
    const heading = this.#next && { round: this.#loads.round, text: JSON.stringify(this.#next) }
    this.#next = undefined
    const text = encodeReport({ ...report, mayBegin: this.#mayBegin })
    return { board: this.#board, process: this.#process, text, keepFor, heading }
  }

  /** The next board is another one: its rounds are others, even of the same number. */
  changeBoard(): void {
    this.#isKnown = false
    this.#next = undefined
  }

  /** Begins with the part of the limit that this process has alone, on a board that no other reads. */
  alone(round: number): Post['heading'] {
    const limit = Math.max(1, this.#state.limit / this.processes)
    return { round, text: JSON.stringify({ ...this.#state, limit }) }
  }

  /**
   * Takes what the board says. Returns true when the limit is another one, or is known for the first time.
   */
  read({ posts, round, heading, now }: Board, own: OwnLoads): boolean {
    // What was known of the source is true after the store was emptied, too.
    const isLost = this.#isKnown && round === 0 && this.#loads.round > 0
    const isNews = !isLost && (round !== this.#loads.round || !this.#isKnown)
    if (isNews || isLost) this.#loads.next(round)
    if (isNews) this.#state = stateOf(heading) ?? this.#policy.first
    this.#isKnown = true
    this.#storeLead = now - own.now
    this.#others = reportsOf(posts, this.#process)
    const reports = new Map(this.#others).set(this.#process, this.#report(own))
    const wants = [...reports.values()].reduce((total, { running, queued }) => total + running + queued, 0)
    this.#contended = wants > this.atOnce
    if (wants >= this.atOnce) this.#loads.bound = true
    const due = fairShare(this.#process, reports, this.atOnce, now)
    this.#share = Math.min(due, this.#mayBegin, leftByOthers(this.#process, reports, this.atOnce))
    this.#lacks = own.queued > 0 && due > this.#share
    // Those that had a part give it back first.
    this.#turnEnds = own.now + untilNextTurn(this.processes, now) + (this.#share === 0 ? HANDOVER : 0)
    this.#next = isLost ? this.#state : this.#policy.next(this.#state, this.#windowOf([...reports.values()]))
    return isNews
  }

  /** A little more than ran at once lately: a load that comes soon need not wait for a report. */
  #foreseen({ running, queued }: OwnLoads): number {
    const wanted = running.size + queued
    const peak = Math.max(wanted, this.#peak, this.#lastPeak)
    this.#lastPeak = Math.max(this.#peak, wanted)
    this.#peak = 0
    // What it does not use until its next report keeps others waiting: never more than an equal part.
    const reserve = Math.min(Math.ceil(HEADROOM * peak) + 1, Math.floor(this.atOnce / this.processes))
    return Math.max(wanted, reserve)
  }

  #report({ running, queued, now }: OwnLoads): LoadReport {
    this.count(running.size, now)
    const told = this.#loads.told(running, this.processes, now)
    return { running: running.size, queued, mayBegin: this.#mayBegin, ...told }
  }

  #windowOf(reports: readonly LoadReport[]): LoadWindow {
    const ofRound = reports.filter(({ round }) => round === this.#loads.round)
    return {
      times: ofRound.flatMap(({ times }) => times),
      ages: ofRound.flatMap(({ ages }) => ages),
      running: ofRound.reduce((total, { mean }) => total + mean, 0),
      bound: ofRound.some(({ bound }) => bound),
    }
  }
}

function reportsOf(posts: ReadonlyMap<string, string>, except: string): ReadonlyMap<string, LoadReport> {
  const reports = new Map<string, LoadReport>()
  for (const [process, text] of posts) {
    const report = process === except ? undefined : decodeReport(text)
    if (report !== undefined) reports.set(process, report)
  }
  return reports
}

/** Undefined for a text that no process of this library writes. */
function stateOf(text: string): LoadLimit | undefined {
  try {
    const state = JSON.parse(text) as LoadLimit
    const isSound = Object.values(state).every((value) => Number.isFinite(value))
    return isSound && state.limit >= 1 && state.growth >= 1 && state.fullFor >= 0 ? state : undefined
  } catch {
    return undefined
  }
}
