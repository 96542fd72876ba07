import { Deferred } from './deferred.ts'
import type { CancelTimer, Runtime } from '../runtime/runtime.ts'
import { SlotMap } from '../maps/slot-map.ts'

/** Notices may be lost (publish/subscribe delivers at most once), so a flight that waits reads again at least this often, ms. */
export const POLL_INTERVAL = 500
/** Spreads the followers of an expired lease over this many ms, so that they do not all acquire at once. */
const EXPIRY_JITTER = 10

/** Ends the waits of one flight, for its permit or its lease. It is registered before the acquire is sent. */
export class LeaseWaiter {
  readonly #runtime: Runtime
  #noticed = false
  #waiting: Deferred<'notice' | 'timer'> | undefined

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** True when a notice arrived since the waiter was registered, or since the end of the last `waitForNotice`. */
  get noticed(): boolean {
    return this.#noticed
  }

  /** Ends the wait; when none runs, ends the next one at once. */
  wake(): void {
    this.#noticed = true
    this.#waiting?.resolve('notice')
  }

  /** Waits for a notice, for `remaining` ms with jitter added, for the poll interval or for `until`, whichever is first. */
  async waitForNotice(remaining: number, until?: Promise<unknown>): Promise<'notice' | 'timer'> {
    const waiting = new Deferred<'notice' | 'timer'>()
    this.#waiting = waiting
    const delay = Math.min(remaining + 1 + this.#runtime.random() * (EXPIRY_JITTER - 1), POLL_INTERVAL)
    void until?.then(() => waiting.resolve('timer'))
    let cancel: CancelTimer | undefined
    if (this.#noticed) waiting.resolve('notice')
    else cancel = this.#runtime.schedule(() => waiting.resolve('timer'), delay)
    const wokenBy = await waiting.promise
    cancel?.()
    this.#noticed = false
    return wokenBy
  }
}

/** All lease waiters of this process, by key. */
export class LeaseWaiters {
  readonly #runtime: Runtime
  readonly #waiters = new SlotMap<readonly LeaseWaiter[]>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  register(key: string): LeaseWaiter {
    const waiter = new LeaseWaiter(this.#runtime)
    this.#waiters.set(key, [...(this.#waiters.get(key) ?? []), waiter])
    return waiter
  }

  unregister(key: string, waiter: LeaseWaiter): void {
    const others = this.#waiters.get(key)?.filter((other) => other !== waiter) ?? []
    if (others.length === 0) this.#waiters.delete(key)
    else this.#waiters.set(key, others)
  }

  wake(key: string): void {
    for (const waiter of this.#waiters.get(key) ?? []) waiter.wake()
  }

  /** Wakes the waiters of every key: after an invalidation of unknown keys, or when notices may have been missed. */
  wakeAll(): void {
    for (const [key] of this.#waiters.entries()) this.wake(key)
  }
}
