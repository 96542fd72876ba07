import { Deferred } from './deferred.ts'
import type { CancelTimer, Runtime } from '../runtime/runtime.ts'
import { SlotMap } from '../maps/slot-map.ts'

/**
 * Notices may be lost (publish/subscribe delivers at most once), so a flight that waits reads again after
 * this time, ms, or later where so many wait that their reads alone would keep the process busy.
 */
const POLL_INTERVAL = 500
/** The most reads of those that wait together, each ms. */
const POLLS = 2
/** Spreads the followers of an expired lease over this many ms, so that they do not all acquire at once. */
const EXPIRY_JITTER = 10

/** Ends the waits of one flight, for its permit or its lease. It is registered before the acquire is sent. */
export class LeaseWaiter {
  readonly #all: LeaseWaiters
  #noticed = false
  /** The number of notices about all keys when it was registered, or when its last wait ended. */
  #noticesBefore: number
  #waiting: Pick<Deferred<'notice'>, 'resolve'> | undefined

  constructor(all: LeaseWaiters) {
    this.#all = all
    this.#noticesBefore = all.noticesToAll
  }

  /**
   * True when a notice arrived since the waiter was registered, or since the end of the last `waitForNotice`.
   */
  get noticed(): boolean {
    return this.#noticed || this.#noticesBefore !== this.#all.noticesToAll
  }

  /** Ends the wait; when none runs, ends the next one at once. */
  wake(): void {
    this.#noticed = true
    this.#waiting?.resolve('notice')
  }

  /** The longest time of a wait that begins now, ms. */
  get pollInterval(): number {
    return Math.max(POLL_INTERVAL, this.#all.waiting.size / POLLS)
  }

  /**
   * Waits for a notice, for `remaining` ms with jitter added, for `poll` ms or for `until`, whichever is
   * first. Resolves to what ended the wait: `until` to its own value.
   */
  async waitForNotice<T = never>(remaining: number, poll: number, until?: Promise<T>): Promise<'notice' | 'timer' | T> {
    const { runtime, waiting: allWaiting } = this.#all
    const waiting = new Deferred<'notice' | 'timer' | T>()
    this.#waiting = waiting
    allWaiting.add(this)
    const delay = Math.min(remaining + 1 + runtime.random() * (EXPIRY_JITTER - 1), poll)
    void until?.then(waiting.resolve)
    let cancel: CancelTimer | undefined
    if (this.noticed) waiting.resolve('notice')
    else cancel = runtime.schedule(() => waiting.resolve('timer'), delay)
    const wokenBy = await waiting.promise
    cancel?.()
    allWaiting.delete(this)
    this.#noticed = false
    this.#noticesBefore = this.#all.noticesToAll
    return wokenBy
  }
}

/** All lease waiters of this process, by key. */
export class LeaseWaiters {
  readonly runtime: Runtime
  /** Those that wait now: most flights load. */
  readonly waiting: Set<LeaseWaiter> = new Set()
  #noticesToAll = 0
  /** Of a key that is invalidated again and again while it loads, there are many. */
  readonly #waiters = new SlotMap<Set<LeaseWaiter>>()

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  get noticesToAll(): number {
    return this.#noticesToAll
  }

  register(key: string): LeaseWaiter {
    const waiter = new LeaseWaiter(this)
    const ofKey = this.#waiters.get(key)
    if (ofKey === undefined) this.#waiters.set(key, new Set([waiter]))
    else ofKey.add(waiter)
    return waiter
  }

  unregister(key: string, waiter: LeaseWaiter): void {
    const ofKey = this.#waiters.get(key)
    ofKey?.delete(waiter)
    if (ofKey?.size === 0) this.#waiters.delete(key)
  }

  wake(key: string): void {
    for (const waiter of this.#waiters.get(key) ?? []) waiter.wake()
  }

  /**
   * Wakes the waiters of every key: after an invalidation of unknown keys, or when notices may have been
   * missed. Visits only those that wait.
   */
  wakeAll(): void {
    this.#noticesToAll += 1
    for (const waiter of this.waiting) waiter.wake()
  }
}
