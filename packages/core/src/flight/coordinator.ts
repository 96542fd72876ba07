import type { EngineServices } from './engine-services.ts'
import { FlightRegistry } from './flight-registry.ts'
import { KnownAnswers } from './known-answers.ts'
import { LeaseWaiters } from './lease-waiters.ts'
import { SharedReads } from './shared-reads.ts'
import type { Notice } from '../store/store.ts'

/**
 * Owns the state of all reads and loads of one cache in this process, and applies the store's notices to it.
 */
export class LoadCoordinator {
  readonly services: EngineServices
  readonly reads: SharedReads
  readonly flights: FlightRegistry
  readonly leaseWaiters: LeaseWaiters
  readonly known: KnownAnswers
  #closed = false

  constructor(services: EngineServices) {
    this.services = services
    this.reads = new SharedReads(services)
    this.flights = new FlightRegistry(this.reads)
    this.leaseWaiters = new LeaseWaiters(services.runtime)
    this.known = new KnownAnswers()
  }

  /** While true, each new call loads for itself, unstored, and no stored value is served. */
  get paused(): boolean {
    return this.services.pause.on
  }

  set paused(paused: boolean) {
    this.services.pause.byProcess = paused
  }

  /** While true, no flight may begin. */
  get closed(): boolean {
    return this.#closed
  }

  /** The number of calls of this process that wait for the key's joinable flight. */
  waitingCalls(key: string): number {
    return this.flights.joinable(key)?.callers ?? 0
  }

  /** Applies a notice of the store, which may report a change made by any process. */
  onNotice(notice: Notice): void {
    switch (notice.kind) {
      case 'committed':
      case 'released':
        this.reads.forget(notice.key)
        return this.#resumeAcquires(notice.key)
      case 'deleted':
      case 'expired':
        return this.onInvalidated(notice.key)
      case 'tags':
        return this.onTagsInvalidated(notice.tags)
      case 'cleared':
        return this.onAllInvalidated()
      case 'disconnected':
      case 'connected':
        this.services.activity.noteNotices(notice.kind, notice.part)
        this.services.events.emit('notices', { state: notice.kind, node: notice.part })
        return this.#resumeAllAcquires()
      case 'away':
      case 'back':
        return this.services.events.emit('breaker', {
          state: notice.kind === 'away' ? 'open' : 'closed',
          node: notice.part,
          error: notice.cause,
        })
      case 'paused':
        return this.services.pause.pauseAll(notice.remaining)
      case 'warning':
        return this.services.events.warn(notice.message, 'CATTLEGRID_STORE')
    }
  }

  /**
   * Takes the key's joinable place away, so that no later call joins what began before the invalidation. Call
   * it before the invalidation's promise settles.
   */
  onInvalidated(key: string): void {
    this.flights.takePlaceAway(key)
    this.#resumeAcquires(key)
  }

  /**
   * Takes the joinable places away, but those of flights that wait. An invalidated tag ends no lease and no
   * mark: flights that wait for a lease go on waiting, and a key stays unshareable.
   */
  onTagsInvalidated(tags: readonly string[]): void {
    this.flights.takeAllPlacesAway()
    this.known.forgetTags(tags)
  }

  /**
   * As `onTagsInvalidated`, for an invalidation of all keys. It may have ended leases, so it also wakes the
   * flights that wait for one.
   */
  onAllInvalidated(): void {
    this.flights.takeAllPlacesAway()
    this.#resumeAllAcquires()
  }

  /**
   * Waits for the running loads for at most `drain` ms, then aborts the rest with `reason`. Returns how many
   * it aborted.
   */
  async close(drain: number, reason: unknown): Promise<number> {
    const { runtime } = this.services
    const allFinished = this.#allFinished()
    await new Promise<void>((resolve) => {
      // Keeps the process alive: nothing else may do so any more.
      const cancel = runtime.schedule(resolve, drain, true)
      void allFinished.then(cancel).then(resolve)
    })
    this.#closed = true
    this.services.pause.close()
    const late = [...this.flights.running]
    for (const { flight } of late) flight.abort(reason)
    // Waits for the store's answer to each released lease: a release that is sent while the process exits may
    // never leave it.
    await Promise.all(late.map(({ end }) => end))
    return late.length
  }

  /** Loops, because a running load may begin another one. */
  async #allFinished(): Promise<void> {
    while (this.flights.running.length > 0) await Promise.all(this.flights.running.map(({ end }) => end))
  }

  /**
   * The key's lease may be free: forgets earlier answers to an acquire, and wakes the flights that wait for
   * the lease.
   */
  #resumeAcquires(key: string): void {
    this.known.forget(key)
    this.leaseWaiters.wake(key)
  }

  #resumeAllAcquires(): void {
    this.known.forgetAll()
    this.leaseWaiters.wakeAll()
  }
}
