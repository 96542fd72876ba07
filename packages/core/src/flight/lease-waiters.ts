import { Deferred } from './deferred.ts'
import type { CancelTimer, Runtime } from '../runtime.ts'

/** Notices may get lost (publish/subscribe delivers at most once), so a follower looks again at least this often, ms. */
export const POLL_INTERVAL = 500
/** Spreads the followers of a lease that ran out over this many ms, so that they do not all ask at once. */
const DEADLINE_JITTER = 10

/** Waits for one key on behalf of one flight. Armed before the acquire that may say "held", so that no notice falls between the two. */
export class LeaseWaiter {
  readonly #runtime: Runtime
  #noticed = false
  #waiting: Deferred<'notice' | 'timer'> | undefined

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Whether a notice came since it was armed, or since the last `until`. */
  get noticed(): boolean {
    return this.#noticed
  }

  /** A notice since the last `until` counts, even if it came while nobody was waiting. */
  wake(): void {
    this.#noticed = true
    this.#waiting?.resolve('notice')
  }

  /** Until a notice, or the end of the lease, or the time to look again. `remaining`: the lease's rest, ms. */
  async waitUntil(remaining: number): Promise<'notice' | 'timer'> {
    const waiting = new Deferred<'notice' | 'timer'>()
    this.#waiting = waiting
    const delay = Math.min(remaining + 1 + this.#runtime.random() * (DEADLINE_JITTER - 1), POLL_INTERVAL)
    let cancel: CancelTimer | undefined
    if (this.#noticed) waiting.resolve('notice')
    else cancel = this.#runtime.schedule(() => waiting.resolve('timer'), delay)
    const by = await waiting.promise
    cancel?.()
    this.#noticed = false
    return by
  }
}

/** Who waits here, by key. */
export class LeaseWaiters {
  readonly #runtime: Runtime
  readonly #armed = new Map<string, Set<LeaseWaiter>>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  arm(key: string): LeaseWaiter {
    const waiter = new LeaseWaiter(this.#runtime)
    const peers = this.#armed.get(key)
    if (peers === undefined) this.#armed.set(key, new Set([waiter]))
    else peers.add(waiter)
    return waiter
  }

  disarm(key: string, waiter: LeaseWaiter): void {
    const peers = this.#armed.get(key)
    peers?.delete(waiter)
    if (peers?.size === 0) this.#armed.delete(key)
  }

  wake(key: string): void {
    for (const waiter of this.#armed.get(key) ?? []) waiter.wake()
  }

  /** Notices may have been missed: everybody looks again. */
  wakeAll(): void {
    for (const key of this.#armed.keys()) this.wake(key)
  }
}
