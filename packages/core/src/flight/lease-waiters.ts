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

/** What the waiters of one key share. */
interface KeyWaiters {
  /** How many are registered, most of which may load by now. */
  registered: number
  /** Notices about the key since the first of them was registered. */
  notices: number
  /** Those that wait now. */
  readonly waiting: Set<LeaseWaiter>
}

/** Ends the waits of one flight, for its permit or its lease. It is registered before the acquire is sent. */
export class LeaseWaiter {
  readonly #all: LeaseWaiters
  readonly #ofKey: KeyWaiters
  #woken = false
  /** The number of notices when it was registered, or when its last wait ended. */
  #noticesBefore: number
  #waiting: Pick<Deferred<'notice'>, 'resolve'> | undefined

  constructor(all: LeaseWaiters, ofKey: KeyWaiters) {
    this.#all = all
    this.#ofKey = ofKey
    this.#noticesBefore = this.#notices
  }

  /**
   * True when a notice arrived since the waiter was registered, or since the end of the last `waitForNotice`.
   */
  get noticed(): boolean {
    return this.#woken || this.#noticesBefore !== this.#notices
  }

  get #notices(): number {
    return this.#ofKey.notices + this.#all.noticesToAll
  }

  /** Ends the wait; when none runs, ends the next one at once. */
  wake(): void {
    this.#woken = true
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
    this.#ofKey.waiting.add(this)
    const delay = Math.min(remaining + 1 + runtime.random() * (EXPIRY_JITTER - 1), poll)
    void until?.then(waiting.resolve)
    let cancel: CancelTimer | undefined
    if (this.noticed) waiting.resolve('notice')
    else cancel = runtime.schedule(() => waiting.resolve('timer'), delay)
    const wokenBy = await waiting.promise
    cancel?.()
    allWaiting.delete(this)
    this.#ofKey.waiting.delete(this)
    this.#woken = false
    this.#noticesBefore = this.#notices
    return wokenBy
  }
}

/** All lease waiters of this process, by key. */
export class LeaseWaiters {
  readonly runtime: Runtime
  /** Those that wait now: most flights load. */
  readonly waiting: Set<LeaseWaiter> = new Set()
  #noticesToAll = 0
  readonly #waiters = new SlotMap<KeyWaiters>()

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  get noticesToAll(): number {
    return this.#noticesToAll
  }

  register(key: string): LeaseWaiter {
    const ofKey = this.#waiters.get(key) ?? { registered: 0, notices: 0, waiting: new Set() }
    if (ofKey.registered === 0) this.#waiters.set(key, ofKey)
    ofKey.registered += 1
    return new LeaseWaiter(this, ofKey)
  }

  /** Ends a registration of the key, of which a waiter has one. */
  unregister(key: string): void {
    const ofKey = this.#waiters.get(key)
    if (ofKey === undefined) return
    ofKey.registered -= 1
    if (ofKey.registered === 0) this.#waiters.delete(key)
  }

  /** Wakes the waiters of a key. Visits only those that wait: many may load. */
  wake(key: string): void {
    const ofKey = this.#waiters.get(key)
    if (ofKey === undefined) return
    ofKey.notices += 1
    for (const waiter of ofKey.waiting) waiter.wake()
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
