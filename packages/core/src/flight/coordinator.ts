import type { Engine } from './engine.ts'
import { FlightRegistry } from './flight-registry.ts'
import { LeaseWaiters } from './lease-waiters.ts'
import { Suppression } from './refresh-suppression.ts'
import { UnshareableKeys } from './unshareable-keys.ts'
import type { Notice } from '../store/store.ts'

/** Everything that is under way in this process, and what the store's notices do to it. */
export class LoadCoordinator {
  readonly engine: Engine
  readonly flights: FlightRegistry
  readonly leaseWaiters: LeaseWaiters
  readonly suppression: Suppression
  readonly unshareable: UnshareableKeys
  /** Whether every call goes its own way, as if nothing were stored. */
  paused = false
  #closed = false

  constructor(engine: Engine) {
    this.engine = engine
    this.flights = new FlightRegistry(engine)
    this.leaseWaiters = new LeaseWaiters(engine.runtime)
    this.suppression = new Suppression()
    this.unshareable = new UnshareableKeys()
  }

  /** Whether no flight begins any more. */
  get closed(): boolean {
    return this.#closed
  }

  /** How many calls wait for the key in this process. */
  waiting(key: string): number {
    return this.flights.joinable(key)?.callers ?? 0
  }

  /** Handles what the store tells of any process. */
  onNotice(notice: Notice): void {
    switch (notice.kind) {
      case 'committed':
      case 'released':
        this.flights.forgetRead(notice.key)
        return this.#wake(notice.key)
      case 'deleted':
      case 'expired':
        return this.invalidated(notice.key)
      case 'tags':
      case 'cleared':
        return this.invalidatedAll()
      case 'disconnected':
      case 'connected':
        this.engine.events.emit('notices', { state: notice.kind })
        return this.#wakeAll()
      case 'away':
      case 'back':
        return this.engine.events.emit('breaker', { state: notice.kind === 'away' ? 'open' : 'closed' })
      case 'warning':
        return this.#warn(notice.message)
    }
  }

  /** Lets go of all that began before an invalidation: it must be over before the invalidation's promise settles. */
  invalidated(key: string): void {
    this.flights.detach(key)
    this.#wake(key)
  }

  /** The same, where nobody knows which keys it concerns. */
  invalidatedAll(): void {
    this.flights.detachAll()
    this.#wakeAll()
  }

  /** Waits for the running loads, at most `drain` ms, then cuts them off. Returns how many had to be. */
  async close(drain: number, reason: unknown): Promise<number> {
    const { runtime } = this.engine
    const over = this.#over()
    const inTime = new Promise<void>((resolve) => {
      const cancel = runtime.schedule(resolve, drain)
      void over.then(cancel).then(resolve)
    })
    await inTime
    this.#closed = true
    const late = [...this.flights.running]
    for (const flight of late) flight.cut?.(reason)
    // A lease is given back once the store has answered: what is sent with the process's last breath may never leave it.
    await Promise.all(late.map((flight) => flight.finished))
    return late.length
  }

  /** A load that runs may have begun another one meanwhile. */
  async #over(): Promise<void> {
    while (this.flights.running.size > 0) await Promise.all([...this.flights.running].map((flight) => flight.finished))
  }

  /** What a person should know is said on the process where no program listens for it. */
  #warn(message: string): void {
    if (this.engine.events.hasListeners('warning')) this.engine.events.emit('warning', { message })
    else process.emitWarning(message, { type: 'CattlegridWarning' })
  }

  #wake(key: string): void {
    this.suppression.clear(key)
    this.unshareable.clear(key)
    this.leaseWaiters.wake(key)
  }

  #wakeAll(): void {
    this.suppression.clearAll()
    this.unshareable.clearAll()
    this.leaseWaiters.wakeAll()
  }
}
