import { Deferred } from './deferred.ts'
import type { Outcome } from '../load.ts'
import { type Settled, type FlightWaiter, FlightWaiters } from './flight-waiters.ts'

/** A waiter's part in a flight. An `early joiner` gets the running load's result as if it had come before. */
export type WaiterRole = 'owner' | 'joiner' | 'early joiner'

/** The step that a flight is executing. */
export interface FlightStep {
  /** The last caller left, and none relies on the load: ends a wait for a permit or a lease. */
  stopWaiting?(): void
  /** A running load waits for the flight: ends a wait for a permit by granting one. */
  skipQueue?(): void
  /** The cache closes: ends the step, with `reason`. */
  abort(reason: unknown): void
}

/** Counts invalidations of unknown keys: of tags, or of all. Flights compare it and need no visit. */
export interface InvalidationCount {
  current: number
}

let flights = 0

type Phase = 'acquiring' | 'waiting' | 'loading'

/**
 * The way of a key to its next value in this process, or a load for one caller alone. Calls can join at most
 * one per key. Its callers wait in three groups:
 * - the owner: the flight runs its loader. A background flight has no owner; it runs the loader of the call
 *   that began it;
 * - early joiners, that joined before `beginLoad`, or as `early joiner`;
 * - late joiners, that joined after it. An invalidation may lie between the start of the load and their call,
 *   so they get a value only after the store has accepted the end of the lease, and otherwise read again;
 *   while the store is away they get it, since no read could tell more. An error reaches them at once. "How a
 *   load ends" in docs/architecture.md has every case.
 */
export class Flight {
  readonly key: string
  /** Identifies it in events. */
  readonly id: number
  /** The call that began it. */
  readonly call: number
  /** True when it began without a caller, who was served an entry. Later calls may join it. */
  readonly background: boolean
  readonly #waiters = new FlightWaiters()
  #outcome: Outcome | undefined
  /** Defined once the outcome was asked for: most flights are over before anybody does. */
  #awaitedOutcome: Deferred<Outcome> | undefined
  #phase: Phase = 'acquiring'
  #detached = false
  #invalidations: InvalidationCount | undefined
  /** Their number when the flight took the joinable place of its key. */
  #invalidationsBefore = 0
  #loadBeganAt = Infinity
  #notifyInterval = Infinity
  #queues = false
  #keepsRunning = false
  #mayExceedMaxLoads = false
  #onFirstCaller: (() => void) | undefined
  #onLastCallerLeft: (() => void) | undefined
  #lateJoinersReadAgain = false
  #step: FlightStep | undefined
  #aborted = false

  constructor(key: string, call: number, background: boolean) {
    flights += 1
    this.id = flights
    this.key = key
    this.call = call
    this.background = background
  }

  /** The outcome of the load; never rejects. */
  get outcome(): Promise<Outcome> {
    if (this.#awaitedOutcome === undefined) {
      this.#awaitedOutcome = new Deferred()
      if (this.#outcome !== undefined) this.#awaitedOutcome.resolve(this.#outcome)
    }
    return this.#awaitedOutcome.promise
  }

  /** True once every caller has its result. */
  get settled(): boolean {
    return this.#outcome !== undefined
  }

  /**
   * True while later calls may join the flight that has the joinable place. After an invalidation of unknown
   * keys they may only if nothing from before reaches them: while the flight waits, because it reads again
   * after the wait; or once its late joiners read again. That keeps unleased loads of a key from running side
   * by side.
   */
  get joinable(): boolean {
    if (this.#detached) return false
    return (
      this.waiting || this.#lateJoinersReadAgain || this.#invalidationsBefore === (this.#invalidations?.current ?? 0)
    )
  }

  /** Takes the joinable place of the key: what begins from now on comes after the `invalidations` so far. */
  countInvalidationsFrom(invalidations: InvalidationCount): void {
    this.#invalidations = invalidations
    this.#invalidationsBefore = invalidations.current
  }

  /** Why a load must not begin: the cache was closed, or all callers left and none relies on it. */
  get stopReason(): 'closed' | 'no-waiters' | undefined {
    if (this.#aborted) return 'closed'
    return this.callers === 0 && !this.#keepsRunning && !this.background ? 'no-waiters' : undefined
  }

  /** The number of calls that wait for it. */
  get callers(): number {
    return this.#waiters.size
  }

  /** The number of those calls that `maxWaiters` counts: all but the calls from inside a load. */
  get countedCallers(): number {
    return this.#waiters.counted
  }

  /** True when its load begins without a permit: a running load that may hold the permit waits for it. */
  get mayExceedMaxLoads(): boolean {
    return this.#mayExceedMaxLoads
  }

  /** Until `unmarkNested`, one waiter is a call from inside a load: exempt from `maxWaiters` and permits. */
  markNested(): void {
    this.#waiters.markNested()
    this.skipQueue()
  }

  unmarkNested(): void {
    this.#waiters.unmarkNested()
  }

  /** Ends the wait for a permit, now and later: a follower that leads in the end needs one. */
  skipQueue(): void {
    this.#mayExceedMaxLoads = true
    this.#step?.skipQueue?.()
  }

  /** Sets the current step. `abort` ends it; a wait also ends when the last caller leaves. */
  setStep(step: FlightStep): void {
    this.#step = step
  }

  /** Ends the current step, because the cache closes. */
  abort(reason: unknown): void {
    this.#aborted = true
    this.#step?.abort(reason)
  }

  add(waiter: FlightWaiter, role: WaiterRole): void {
    const joined = this.#phase === 'loading' && role === 'joiner' ? 'late' : 'early'
    const isFirst = this.callers === 0
    this.#waiters.add(waiter, role === 'owner' ? 'owner' : joined)
    if (isFirst) this.#onFirstCaller?.()
  }

  /** Calls `action` as soon as a call waits for the flight: now, or when the first one comes. */
  onFirstCaller(action: () => void): void {
    this.#onFirstCaller = action
    if (this.callers > 0) action()
  }

  /** The waiter stops waiting before the flight has a result for it. */
  remove(waiter: FlightWaiter): void {
    this.#waiters.remove(waiter)
    if (this.stopReason === 'no-waiters') this.#step?.stopWaiting?.()
    this.#notifyIfNoCallers()
  }

  /** Calls `action` as soon as no call waits for the flight: now, or when the last one leaves. */
  onLastCallerLeft(action: () => void): void {
    this.#onLastCallerLeft = action
    this.#notifyIfNoCallers()
  }

  #notifyIfNoCallers(): void {
    if (this.callers === 0) this.#onLastCallerLeft?.()
  }

  /**
   * A caller leaves with a stale value and relies on the load to replace it: the load begins even if no other
   * caller waits. It keeps its place in a queue: else a busy process would never load the key.
   */
  keepRunning(): void {
    this.#keepsRunning = true
  }

  /** Keeps later calls from joining, for good: the load is about to end, or is for its owner alone. */
  detach(): void {
    this.#detached = true
  }

  /** True while it waits for a permit: a caller that has a stale value need not wait for that. */
  get queues(): boolean {
    return this.waiting && this.#queues
  }

  /**
   * Starts the wait for another load, or for a permit (`queues`), and calls `onWaiting` of its waiters. The
   * step must end this wait, and begin the next one, within `notifyInterval` ms.
   */
  beginWait(notifyInterval: number = Infinity, queues = false): void {
    this.#phase = 'waiting'
    this.#queues = queues
    this.#notifyInterval = notifyInterval
    this.#waiters.notifyWaiting()
  }

  /** Ends the wait. What the flight reads from here on is later than every invalidation so far. */
  endWait(): void {
    this.#phase = 'acquiring'
    this.#invalidationsBefore = this.#invalidations?.current ?? 0
  }

  /** The longest time between two calls of a waiter's `onWaiting` while the flight waits, ms. */
  get notifyInterval(): number {
    return this.#notifyInterval
  }

  get waiting(): boolean {
    return this.#phase === 'waiting'
  }

  /** The time since `moment` in which its load ran, ms. It does not count as waiting. */
  loadTimeSince(moment: number, now: number): number {
    return now - Math.max(moment, Math.min(now, this.#loadBeganAt))
  }

  /** True once its load runs without a lease, and its late joiners will not get the value. */
  get lateJoinersReadAgain(): boolean {
    return this.#lateJoinersReadAgain
  }

  letLateJoinersReadAgain(): void {
    this.#lateJoinersReadAgain = true
  }

  /** The load begins: its lease is granted, or known to be none. A batch calls its loader later. */
  beginLoad(now: number): void {
    this.#phase = 'loading'
    this.#loadBeganAt = now
  }

  /** True once its load runs or has run. */
  get loadBegan(): boolean {
    return this.#phase === 'loading'
  }

  /** Settles every joiner without a value, and refuses later ones: the result is for the owner alone. */
  settleJoiners(kind: 'load-alone' | 'retry'): void {
    this.detach()
    this.#waiters.settle('early', { kind })
    this.#waiters.settle('late', { kind })
    this.#notifyIfNoCallers()
  }

  /** Delivers the result to the owner and the early joiners. */
  settleOwnerAndEarly(result: Settled): void {
    this.#waiters.settle('owner', result)
    this.#waiters.settle('early', result)
  }

  /**
   * As `settle`, with the answer of the store to a step that was sent when `call` was the last one. The
   * answer counts for that call and earlier ones; joiners that began later read again: a change, or the end
   * of a cooldown, may lie between that answer and their call.
   */
  settleAnswered(result: Settled, outcome: Outcome, call: number): void {
    this.detach()
    this.#waiters.settleLaterThan(call, { kind: 'retry' })
    this.settle(result, outcome)
  }

  /** Delivers the result to every caller that has none yet, and publishes the outcome. */
  settle(result: Settled, outcome: Outcome): void {
    this.#outcome ??= outcome
    this.detach()
    this.settleOwnerAndEarly(result)
    this.#waiters.settle('late', result)
    this.#awaitedOutcome?.resolve(outcome)
  }
}
