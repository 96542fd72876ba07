import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import { type Call, lastCall, noteAndJudge, type TimedRead } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { LoadFailedError } from '../errors.ts'
import { leaseId } from '../events/lease-holder.ts'
import type { AbandonReason } from '../load.ts'
import { emitAway } from '../flight/emit-away.ts'
import { isAway } from '../flight/shared-reads.ts'
import type { Flight, FlightStep } from '../flight/flight.ts'
import type { Settled } from '../flight/flight-waiters.ts'
import type { LeaseWaiter } from '../flight/lease-waiters.ts'
import type { Acquire, Away, Lease, Read } from '../store/answers.ts'
import { lead } from './lead.ts'
import { LoadPermit } from './load-permit.ts'
import { RefreshPermit } from './refresh-permit.ts'
import { settleAbandoned, settleBroken, settleWithoutPermit } from './settle-flight.ts'
import { entryAtGrant } from './entry-at-grant.ts'
import { loadUnleased } from './alone.ts'

/** After this many "changed" answers the flight pauses, ms, and then reads again; it never loads unleased. */
const MAX_CHANGES = 8
const CHANGE_PAUSE = 50

/** Claims the key for a flight: leads, follows, loads alone or gives up. Always settles it; never rejects. */
export function claim(flight: Flight, call: Call, storeRead: TimedRead, coordinator: LoadCoordinator): Promise<void> {
  return new FlightRun(flight, call, coordinator).run(storeRead)
}

/** One flight from its first acquire to its end: it reaches a value, the lead, or the right to load alone. */
class FlightRun implements FlightStep {
  readonly #flight: Flight
  readonly #call: Call
  readonly #coordinator: LoadCoordinator
  readonly #services: EngineServices
  readonly #permit: LoadPermit
  /** Undefined for a flight that `refreshBudget` does not limit. */
  readonly #refreshPermit: RefreshPermit | undefined
  /** Registered before the acquire: an early notice ends the wait. A background flight never waits. */
  readonly #waiter: LeaseWaiter | undefined
  #changes = 0
  /** The last call begun when the present step was sent: the answer is for it and earlier ones alone. */
  #answersUntil = 0
  /** The moment at which the last acquire was sent. */
  #askedAt = 0
  /** From when `storeTimeout` counts for steps without a wait between them. Undefined in the background. */
  #storeTimeoutFrom: number | undefined
  /** True once it has waited for another flight's lease. */
  #followed = false

  constructor(flight: Flight, call: Call, coordinator: LoadCoordinator) {
    this.#flight = flight
    this.#call = call
    this.#coordinator = coordinator
    this.#services = coordinator.services
    const { refreshBudget } = coordinator.services
    this.#refreshPermit =
      flight.background && refreshBudget !== undefined
        ? new RefreshPermit(flight, refreshBudget, call.settings)
        : undefined
    this.#waiter = flight.background ? undefined : coordinator.leaseWaiters.register(call.storedKey)
    this.#permit = new LoadPermit(call.permits, call.settings.waitTimeout, this.#waiter)
    flight.setStep(this)
    call.handOut?.onFlight(flight)
  }

  stopWaiting(): void {
    this.#waiter?.wake()
    this.#permit.stopWaiting()
  }

  skipQueue(): void {
    this.#permit.skipQueue()
  }

  abort(): void {
    this.stopWaiting()
  }

  async run(first: TimedRead): Promise<void> {
    let { read } = first
    this.#storeTimeoutFrom = first.sentAt
    try {
      // Permit → acquire → settled? → read → settled? → again. After a wait for the permit: read first.
      for (;;) {
        // Before the lease: a flight that queued with one would block processes that have permits.
        const acquiring = this.#permit.acquireFor(this.#flight)
        const permitted = acquiring instanceof Promise ? await acquiring : acquiring
        if (permitted.kind === 'acquired') {
          const answer = await this.#ask(read)
          if (answer !== undefined) await this.#handle(answer, read)
        } else if (permitted.kind === 'refused') settleWithoutPermit(this.#flight, permitted)
        if (this.#flight.settled) return
        // Another process may have loaded the key, or an invalidation may have voided what was read.
        if (permitted.kind === 'waited') this.#restartStoreTimeout()
        const again = await this.#readAgain()
        if (this.#flight.settled) return
        // Where the store is gone after a wait for the permit, what it answered before tells more.
        if (permitted.kind !== 'waited' || isAway(read) || !isAway(again)) read = again
      }
    } catch (error) {
      settleBroken(this.#flight, error)
    } finally {
      const ending = this.#dispose()
      if (ending !== undefined) await ending
    }
  }

  #dispose(): Promise<void> | undefined {
    this.#permit.stopWaiting()
    this.#permit.release()
    if (this.#waiter !== undefined) this.#coordinator.leaseWaiters.unregister(this.#call.storedKey)
    // `close` waits for this: the release must be sent before the client is destroyed.
    return this.#refreshPermit?.end()
  }

  /** Asks for the lease. Undefined once the flight has ended without. */
  #ask(read: Read): Acquire | Promise<Acquire | undefined> | undefined {
    if (read.kind === 'away') return read
    // The outage store may keep no copy: without this, detached flights would load one after another.
    if (read.away !== undefined && !this.#takeJoinablePlace()) settleAbandoned(this.#flight, 'away')
    else return this.#refreshPermit === undefined ? this.#acquire(read) : this.#askWithin(this.#refreshPermit, read)
    return undefined
  }

  async #askWithin(permit: RefreshPermit, read: Exclude<Read, Away>): Promise<Acquire | undefined> {
    if (await permit.acquire()) return await this.#acquire(read)
    settleAbandoned(this.#flight, 'over-budget')
    return undefined
  }

  /** Settles the flight with the entry of the read, another's, if it satisfies the flight's owner. */
  async #readAgain(): Promise<Read> {
    const { store, runtime } = this.#services
    const { codec } = this.#call.settings
    this.#answersUntil = lastCall()
    const read = await store.read(this.#call.storedKey, codec, { since: this.#storeTimeoutFrom })
    const verdict = noteAndJudge(this.#services, this.#call, read, runtime.now())
    // Its callers read again, each for itself.
    if (this.#coordinator.paused) {
      settleAbandoned(this.#flight, 'unleased')
      return read
    }
    const servable = verdict === 'fresh' || (verdict === 'stale' && !this.#flight.background)
    if (read.kind === 'found' && servable) this.#settleAnswered({ kind: 'found', entry: read.entry, codec }, 'changed')
    return read
  }

  #restartStoreTimeout(): void {
    if (!this.#flight.background) this.#storeTimeoutFrom = this.#services.runtime.elapsed()
  }

  #acquire(read: Exclude<Read, Away>): Promise<Acquire> {
    this.#askedAt = this.#services.runtime.elapsed()
    this.#answersUntil = lastCall()
    const { storedKey, settings } = this.#call
    const { background } = this.#flight
    return this.#services.store.acquire(storedKey, {
      duration: settings.leaseDuration,
      seen: read.kind === 'found' ? read.entry.version : read.version,
      away: read.away !== undefined,
      wake: !background,
      maxCooldown: settings.cooldown.max,
      since: this.#storeTimeoutFrom,
    })
  }

  /** Skips an answer that a notice may have overtaken. A background flight gets no notices, and skips all. */
  #noteUnshareable({ share, remaining }: Acquire & { kind: 'uncacheable' }): void {
    if (share || this.#waiter?.noticed !== false) return
    this.#coordinator.known.markUnshareable(this.#call.storedKey, remaining, this.#askedAt)
  }

  /**
   * Acts on the store's answer: docs/architecture.md has every case (What the acquire answers). Unless that
   * settles the flight, it reads and acquires again.
   */
  #handle(answer: Acquire, read: Read): Promise<void> | void {
    const flight = this.#flight
    const entry = read.kind === 'found' ? read.entry : undefined
    if (flight.stopReason !== undefined) return this.#giveUp(answer, flight.stopReason)
    switch (answer.kind) {
      case 'lead':
        return entry === undefined ? this.#lead(answer.lease, undefined) : this.#leadFrom(answer, entry)
      case 'held':
        return this.#follow(answer, entry)
      case 'changed':
        return this.#countChange()
      case 'cooling':
        return this.#settleCooling(answer, entry)
      case 'uncacheable':
        if (read.kind !== 'away' && read.away === undefined) this.#noteUnshareable(answer)
        // Unshareable: each caller loads alone. Shareable: one load without a lease, for all.
        if (!answer.share && !flight.background)
          return flight.settle({ kind: 'load-alone' }, { kind: 'abandoned', why: 'unleased' })
        return loadUnleased(flight, this.#call, 'uncacheable', this.#services, this.#permit)
      case 'held-off':
        this.#suppressRefresh(entry, answer.remaining)
        return loadUnleased(flight, this.#call, 'held-off', this.#services, this.#permit)
      case 'away':
        return this.#loadWithoutStore(read === answer ? 'read' : 'acquire', answer)
    }
  }

  /** Leads with the entry as it is at the grant of the lease. */
  async #leadFrom(answer: Acquire & { kind: 'lead' }, entry: Entry): Promise<void> {
    const atGrant = await entryAtGrant(entry, answer.lease, this.#services, this.#storeTimeoutFrom)
    const { stopReason } = this.#flight
    await (stopReason === undefined ? this.#lead(answer.lease, atGrant) : this.#giveUp(answer, stopReason))
  }

  #lead(lease: Lease, entry: Entry | undefined): Promise<void> {
    this.#refreshPermit?.use()
    this.#emitLead(lease)
    return lead(this.#flight, this.#call, lease, this.#permit, entry, this.#services)
  }

  #emitLead({ token, attempts }: Lease): void {
    const { events } = this.#services
    if (!events.hasListeners('lead')) return
    const { id: flight, background } = this.#flight
    const lease = { lease: leaseId(token), attempt: attempts + 1 }
    events.emit('lead', { key: this.#call.storedKey, flight, ...lease, background, takeover: this.#followed })
  }

  /** Loads, unless another flight of this process does: its callers read again, and join that one. */
  async #loadWithoutStore(step: 'read' | 'acquire', away: Away): Promise<void> {
    const flight = this.#flight
    if (!this.#takeJoinablePlace()) return settleAbandoned(flight, 'away')
    emitAway(this.#services.events, this.#call.storedKey, step, away)
    return await loadUnleased(flight, this.#call, 'away', this.#services, this.#permit)
  }

  /** Lets later calls join this flight; false if another one has that place. Not in the background. */
  #takeJoinablePlace(): boolean {
    return this.#flight.background || this.#coordinator.flights.takeJoinablePlace(this.#flight)
  }

  /** Ends without a load: a lease that was granted goes to the next caller that wants one. */
  async #giveUp(answer: Acquire, why: AbandonReason): Promise<void> {
    if (answer.kind === 'lead') await this.#services.store.release(answer.lease, { kind: 'handover' })
    settleAbandoned(this.#flight, why)
  }

  /** Waits for the end of the lease, unless another flight of this process does. Not in the background. */
  async #follow({ remaining, holder }: Acquire & { kind: 'held' }, entry: Entry | undefined): Promise<void> {
    const { events } = this.#services
    if (this.#waiter === undefined) {
      this.#suppressRefresh(entry, remaining)
      return settleAbandoned(this.#flight, 'held')
    }
    if (!this.#coordinator.flights.takeJoinablePlace(this.#flight)) return settleAbandoned(this.#flight, 'held')
    const { storedKey: key } = this.#call
    const { id: flight, call } = this.#flight
    if (events.hasListeners('follow')) events.emit('follow', { key, call, flight, remaining, holder })
    this.#followed = true
    const by = await this.#pause(remaining)
    const { stopReason } = this.#flight
    if (stopReason !== undefined) return settleAbandoned(this.#flight, stopReason)
    if (events.hasListeners('wake')) events.emit('wake', { key, call, flight, by })
  }

  /** Pauses if the entry changes again and again. A background flight leaves the load to who commits. */
  async #countChange(): Promise<void> {
    this.#changes += 1
    if (this.#changes <= MAX_CHANGES) return
    await this.#pause(CHANGE_PAUSE)
    const why = this.#flight.stopReason ?? (this.#flight.background ? 'changed' : undefined)
    if (why !== undefined) settleAbandoned(this.#flight, why)
  }

  /** Waits without a permit, within `waitTimeout`. A background flight does not wait. */
  async #pause(remaining: number): Promise<'notice' | 'timer'> {
    this.#permit.release()
    const poll = this.#waiter?.pollInterval ?? Infinity
    this.#flight.beginWait(poll)
    const wokenBy = (await this.#waiter?.waitForNotice(remaining, poll)) ?? 'timer'
    this.#flight.endWait()
    this.#restartStoreTimeout()
    return wokenBy
  }

  #settleCooling({ remaining, attempts, failure }: Acquire & { kind: 'cooling' }, entry: Entry | undefined): void {
    const { events } = this.#services
    const key = this.#call.storedKey
    if (events.hasListeners('cooling')) events.emit('cooling', { key, remaining })
    this.#suppressRefresh(entry, remaining)
    const error = new LoadFailedError(key, attempts, remaining, failure)
    this.#settleAnswered({ kind: 'failed', error, mayServeStale: true }, 'cooling')
  }

  #settleAnswered(result: Settled, why: AbandonReason): void {
    this.#flight.settleAnswered(result, { kind: 'abandoned', why }, this.#answersUntil)
  }

  #suppressRefresh(entry: Entry | undefined, remaining: number): void {
    const until = this.#services.runtime.elapsed() + remaining
    if (entry !== undefined) this.#coordinator.known.suppress(this.#call.storedKey, entry, until)
  }
}
