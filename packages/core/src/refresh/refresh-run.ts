import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Engine } from '../flight/engine.ts'
import { type Call, judgeRead, replacedEntry, type StoreRead } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ClosedError, LoadFailedError } from '../errors.ts'
import type { Flight, FlightStep } from '../flight/flight.ts'
import { POLL_INTERVAL, type LeaseWaiter } from '../flight/lease-waiters.ts'
import type { Abandoned } from '../load.ts'
import type { Acquire, Away, Read } from '../store/store.ts'
import { lead } from './lead.ts'
import { LoadPermit } from './load-permit.ts'
import { loadUnleased } from './unleased-load.ts'

/** After this many "changed" answers in a row the flight pauses before it reads again. It never loads without a lease because of them. */
const MAX_CHANGES = 8
/** The length of that pause, ms. */
const CHANGE_PAUSE = 50

/** Runs one refresh: acquires the lease, then leads, follows or gives up. Always settles the flight, and never rejects. */
export function runRefresh(
  flight: Flight,
  call: Call,
  storeRead: StoreRead,
  coordinator: LoadCoordinator,
): Promise<void> {
  const run = new RefreshRun(flight, call, coordinator)
  return settleOnError(run.run(storeRead), run, flight)
}

/** Runs a load for the flight's owner without asking for the lease. `permit`: one that the caller holds already. Settles as `runRefresh`. */
export function runUnleased(
  flight: Flight,
  call: Call,
  coordinator: LoadCoordinator,
  permit?: LoadPermit,
): Promise<void> {
  const run = new RefreshRun(flight, call, coordinator, permit)
  return settleOnError(run.runUnleased(), run, flight)
}

/** A store or policy that throws breaks its contract; the callers must not hang because of it. */
async function settleOnError(running: Promise<void>, run: RefreshRun, flight: Flight): Promise<void> {
  try {
    await running
  } catch (error) {
    flight.settle({ kind: 'failed', error, failure: true }, { kind: 'failed', error, cooldown: 0 })
  } finally {
    run.dispose()
  }
}

class RefreshRun implements FlightStep {
  readonly #flight: Flight
  readonly #call: Call
  readonly #coordinator: LoadCoordinator
  readonly #engine: Engine
  readonly #permit: LoadPermit
  /** Armed before the acquire, so that a notice between its answer and the wait counts. A background flight never waits. */
  readonly #waiter: LeaseWaiter | undefined
  #changes = 0
  #closed = false

  constructor(flight: Flight, call: Call, coordinator: LoadCoordinator, permit?: LoadPermit) {
    this.#flight = flight
    this.#call = call
    this.#coordinator = coordinator
    this.#engine = coordinator.engine
    this.#permit = permit ?? new LoadPermit(coordinator.engine.admission)
    this.#waiter = flight.background ? undefined : coordinator.leaseWaiters.arm(call.key)
    flight.attach(this)
  }

  stopWaiting(): void {
    this.#waiter?.wake()
    this.#permit.abandon()
  }

  abort(): void {
    this.#closed = true
    this.stopWaiting()
  }

  dispose(): void {
    this.#permit.release()
    if (this.#waiter !== undefined) this.#coordinator.leaseWaiters.disarm(this.#call.key, this.#waiter)
  }

  async run(first: StoreRead): Promise<void> {
    const { store, runtime } = this.#engine
    let { read, took } = first
    for (;;) {
      if (!(await this.#acquirePermit())) return
      if (read.kind === 'away') return this.#loadWithoutStore('read', read)
      const entry = read.kind === 'found' ? read.entry : undefined
      const askedAt = runtime.now()
      const answer = await this.#acquire(read, took)
      if (read.away === undefined) this.#noteUnshareable(answer, askedAt)
      if (await this.#handle(answer, entry)) return
      const sentAt = runtime.now()
      read = await store.read(this.#call.key, this.#call.settings.codec)
      const now = runtime.now()
      took = now - sentAt
      if (this.#settleIfServable(read, now)) return
    }
  }

  async runUnleased(): Promise<void> {
    // The batch of this call has a permit for all of its keys, or waits for one: a call that kept its own could make it wait for ever.
    if (this.#call.sharedWaiter !== undefined) this.#permit.release()
    if (await this.#acquirePermit()) await this.#loadUnleased('unleased')
  }

  /**
   * Acquires the load permit, and settles the flight when it returns false. The permit comes before the lease: a flight that queued with the
   * lease in hand would keep the key from processes that have permits to spare.
   */
  async #acquirePermit(): Promise<boolean> {
    const { runtime } = this.#engine
    const { background } = this.#flight
    if (this.#closed) return !this.#abandon('closed')
    const needsNone = this.#call.sharedWaiter !== undefined
    if (needsNone || this.#permit.held || this.#permit.tryAcquire(background ? [] : undefined)) return true
    if (background) return !this.#abandon('busy')
    this.#call.onWait?.()
    const acquiring = this.#permit.acquire()
    // Only now, with the flight in the queue: `follow` may make its last caller give up, and that takes the flight out of the queue.
    this.#flight.follow(runtime.now())
    const acquired = await acquiring
    this.#flight.stopFollowing(runtime.now())
    return acquired || !this.#abandon(this.#closed ? 'closed' : 'deserted')
  }

  #acquire(read: Exclude<Read, Away>, spent: number): Promise<Acquire> {
    const { key, settings } = this.#call
    const { background } = this.#flight
    return this.#engine.store.acquire(key, {
      duration: settings.leaseDuration,
      seen: read.kind === 'found' ? read.entry.version : read.version,
      away: read.away !== undefined,
      wake: !background,
      // Always: the loader may name its tags only at its end, and the tag sequence must be the one from before the load.
      tags: true,
      // A background refresh has a store budget of its own, since no caller waits for it.
      spent: background ? 0 : spent,
    })
  }

  /** Skips an answer that a notice may have overtaken: the mark may have ended, and no further notice would say so. */
  #noteUnshareable(answer: Acquire, askedAt: number): void {
    if (answer.kind !== 'uncacheable' || answer.share || this.#waiter?.noticed !== false) return
    this.#coordinator.unshareable.add(this.#call.key, answer.remaining, askedAt)
  }

  /** Returns true when the flight is settled, false when it must read again. */
  async #handle(answer: Acquire, entry: Entry | undefined): Promise<boolean> {
    if (answer.kind !== 'lead' && this.#closed) return this.#abandon('closed')
    if (answer.kind !== 'lead' && this.#unwanted) return this.#abandon('deserted')
    switch (answer.kind) {
      case 'lead':
        await this.#lead(answer, entry)
        return true
      case 'held':
        return this.#follow(answer.remaining, entry)
      case 'cooling':
        this.#settleCooling(answer, entry)
        return true
      case 'uncacheable':
        await this.#loadUncacheable(answer.share)
        return true
      case 'held-off':
        await this.#loadUnleased('unleased')
        return true
      case 'changed':
        return this.#retryChanged()
      case 'away':
        await this.#loadWithoutStore('acquire', answer)
        return true
    }
  }

  async #lead({ lease }: Acquire & { kind: 'lead' }, entry: Entry | undefined): Promise<void> {
    const { store, events, runtime } = this.#engine
    const { background } = this.#flight
    if (this.#closed || this.#unwanted) {
      await store.release(lease, { kind: 'handover' })
      this.#abandon(this.#closed ? 'closed' : 'deserted')
      return
    }
    if (events.hasListeners('lead')) events.emit('lead', { key: this.#call.key, background })
    const replaced = replacedEntry(this.#engine, this.#call, entry, runtime.now())
    await lead(this.#flight, this.#call, lease, replaced, this.#engine)
  }

  /** Waits for the leader. A background flight leaves the refresh to it. */
  async #follow(remaining: number, entry: Entry | undefined): Promise<boolean> {
    const { events } = this.#engine
    if (this.#waiter === undefined) {
      this.#suppressRefresh(entry, remaining)
      return this.#abandon('held')
    }
    if (events.hasListeners('follow')) events.emit('follow', { key: this.#call.key, remaining })
    this.#call.onWait?.()
    this.#permit.release()
    const by = await this.#pause(remaining)
    if (this.#unwanted) return this.#abandon('deserted')
    if (events.hasListeners('wake')) events.emit('wake', { key: this.#call.key, by })
    return false
  }

  async #retryChanged(): Promise<boolean> {
    this.#changes += 1
    if (this.#changes <= MAX_CHANGES) return false
    await this.#pause(CHANGE_PAUSE)
    if (this.#flight.background) return this.#abandon('changed')
    return this.#unwanted && this.#abandon('deserted')
  }

  /** Waits as a follower: the time counts towards the callers' `waitTimeout`. Returns at once for a background flight. */
  async #pause(remaining: number): Promise<'notice' | 'timer'> {
    const { runtime } = this.#engine
    this.#flight.follow(runtime.now(), POLL_INTERVAL)
    const wokenBy = (await this.#waiter?.waitUntil(remaining)) ?? 'timer'
    this.#flight.stopFollowing(runtime.now())
    return wokenBy
  }

  #settleIfServable(read: Read, now: number): boolean {
    const verdict = judgeRead(this.#engine, this.#call, read, now)
    const servable = verdict === 'fresh' || (verdict === 'stale' && !this.#flight.background)
    if (read.kind !== 'found' || !servable) return false
    this.#flight.settle({ kind: 'found', entry: read.entry }, { kind: 'abandoned', why: 'changed' })
    return true
  }

  #settleCooling({ remaining, attempts, failure }: Acquire & { kind: 'cooling' }, entry: Entry | undefined): void {
    const { events } = this.#engine
    const { key } = this.#call
    if (events.hasListeners('cooling')) events.emit('cooling', { key, remaining })
    this.#suppressRefresh(entry, remaining)
    const error = new LoadFailedError(key, attempts, remaining, failure)
    this.#flight.settle({ kind: 'failed', error, failure: true }, { kind: 'abandoned', why: 'cooling' })
  }

  /** Loads at once, since no other load would leave a value to wait for. A result that may be shared serves all callers of this process. */
  async #loadUncacheable(share: boolean): Promise<void> {
    if (this.#flight.background) this.#abandon('unleased')
    else if (share) await this.#loadUnleased('unleased')
    else this.#flight.settle({ kind: 'load-alone' }, { kind: 'abandoned', why: 'unleased' })
  }

  /** The store is away: one load serves all callers of this process. A background flight has none. */
  async #loadWithoutStore(step: string, { cause }: Away): Promise<void> {
    const { events } = this.#engine
    if (events.hasListeners('away')) events.emit('away', { key: this.#call.key, step, error: cause })
    if (this.#flight.background) this.#abandon('away')
    else await this.#loadUnleased('away')
  }

  #loadUnleased(why: 'unleased' | 'away'): Promise<void> {
    return loadUnleased(this.#flight, this.#call, why, this.#engine)
  }

  /** Whether no caller waits for this foreground flight, and none counts on its load. */
  get #unwanted(): boolean {
    return this.#flight.abandoned && !this.#flight.background
  }

  #suppressRefresh(entry: Entry | undefined, remaining: number): void {
    if (entry === undefined) return
    this.#coordinator.suppression.add(this.#call.key, entry.version, this.#engine.runtime.now() + remaining)
  }

  /** Settles the flight without a load; returns true, for "the flight is settled". */
  #abandon(why: Abandoned): true {
    const result =
      why === 'closed'
        ? { kind: 'failed' as const, error: new ClosedError(), failure: false }
        : { kind: 'retry' as const }
    this.#flight.settle(result, { kind: 'abandoned', why })
    return true
  }
}
