import type { Engine } from './engine.ts'
import { Flights } from './flight.ts'
import { Waiters } from './follow.ts'
import { Suppression } from './lease/suppression.ts'
import type { Notice } from './store/store.ts'

/** Everything that is under way in this process, and what the store's notices do to it. */
export class Deck {
  readonly engine: Engine
  readonly flights: Flights
  readonly waiters: Waiters
  readonly suppression: Suppression
  #closed = false

  constructor(engine: Engine) {
    this.engine = engine
    this.flights = new Flights(engine.store)
    this.waiters = new Waiters(engine.runtime)
    this.suppression = new Suppression()
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
  notice(notice: Notice): void {
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
      case 'deaf':
      case 'hearing':
        this.engine.events.emit('notices', { state: notice.kind })
        return this.#wakeAll()
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
    const landed = Promise.all([...this.flights.running].map((flight) => flight.outcome))
    const inTime = new Promise<void>((resolve) => {
      const cancel = runtime.schedule(resolve, drain)
      void landed.then(cancel).then(resolve)
    })
    await inTime
    this.#closed = true
    const late = [...this.flights.running]
    for (const flight of late) flight.cut?.(reason)
    await Promise.all(late.map((flight) => flight.outcome))
    return late.length
  }

  /** What a person should know is said on the process where no program listens for it. */
  #warn(message: string): void {
    if (this.engine.events.heard('warning')) this.engine.events.emit('warning', { message })
    else process.emitWarning(message, { type: 'CattlegridWarning' })
  }

  #wake(key: string): void {
    this.suppression.clear(key)
    this.waiters.wake(key)
  }

  #wakeAll(): void {
    this.suppression.clearAll()
    this.waiters.wakeAll()
  }
}
