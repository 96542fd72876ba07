import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Engine } from '../flight/engine.ts'
import { type Call, judgeRead, type TimedRead } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { LoadFailedError } from '../errors.ts'
import type { Flight, FlightStep } from '../flight/flight.ts'
import { POLL_INTERVAL, type LeaseWaiter } from '../flight/lease-waiters.ts'
import type { Acquire, Away, Read } from '../store/store.ts'
import { lead } from './lead.ts'
import { LoadPermit } from './load-permit.ts'
import { settleBroken, settleWithoutLoad } from './settle-flight.ts'
import { loadUncacheable, loadUnleased, loadWithoutStore } from './unleased-load.ts'

/** After this many "changed" answers in a row the flight pauses before it reads again. It never loads without a lease because of them. */
const MAX_CHANGES = 8
/** The length of that pause, ms. */
const CHANGE_PAUSE = 50

/** Runs one refresh: acquires the lease, then leads, follows or gives up. Always settles the flight, and never rejects. */
export async function runRefresh(
  flight: Flight,
  call: Call,
  storeRead: TimedRead,
  coordinator: LoadCoordinator,
): Promise<void> {
  const run = new RefreshRun(flight, call, coordinator)
  try {
    await run.run(storeRead)
  } catch (error) {
    settleBroken(flight, error)
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
  /** Registered before the acquire is sent: a notice that arrives before the wait begins still ends it. A background flight never waits. */
  readonly #waiter: LeaseWaiter | undefined
  #changes = 0

  constructor(flight: Flight, call: Call, coordinator: LoadCoordinator) {
    this.#flight = flight
    this.#call = call
    this.#coordinator = coordinator
    this.#engine = coordinator.engine
    this.#permit = new LoadPermit(coordinator.engine.admission)
    this.#waiter = flight.background ? undefined : coordinator.leaseWaiters.register(call.key)
    flight.attach(this)
  }

  stopWaiting(): void {
    this.#waiter?.wake()
    this.#permit.stopWaiting()
  }

  abort(): void {
    this.stopWaiting()
  }

  dispose(): void {
    this.#permit.release()
    if (this.#waiter !== undefined) this.#coordinator.leaseWaiters.unregister(this.#call.key, this.#waiter)
  }

  async run(first: TimedRead): Promise<void> {
    const { store, runtime } = this.#engine
    let { read, took } = first
    for (;;) {
      // Before the lease: a flight that queued with a lease would keep the key from processes that have permits to spare.
      const refused = await this.#permit.acquireFor(this.#flight, this.#call, runtime)
      if (refused !== undefined) return void settleWithoutLoad(this.#flight, refused)
      if (read.kind === 'away') return loadWithoutStore(this.#flight, this.#call, 'read', read, this.#engine)
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
    const flight = this.#flight
    if (flight.aborted || flight.deserted) return this.#giveUp(answer)
    switch (answer.kind) {
      case 'lead':
        await lead(flight, this.#call, answer.lease, entry, this.#engine)
        return true
      case 'held':
        return this.#follow(answer.remaining, entry)
      case 'changed':
        return this.#retryChanged()
      case 'cooling':
        return this.#settleCooling(answer, entry)
      case 'uncacheable':
        await loadUncacheable(flight, this.#call, answer.share, this.#engine)
        return true
      case 'held-off':
        return this.#loadHeldOff(answer.remaining, entry)
      case 'away':
        await loadWithoutStore(flight, this.#call, 'acquire', answer, this.#engine)
        return true
    }
  }

  /** No load is wanted any more: a lease that was granted goes to the next caller that wants one. */
  async #giveUp(answer: Acquire): Promise<true> {
    if (answer.kind === 'lead') await this.#engine.store.release(answer.lease, { kind: 'handover' })
    return settleWithoutLoad(this.#flight, this.#flight.aborted ? 'closed' : 'deserted')
  }

  /** Waits for the leader. A background flight leaves the refresh to it. */
  async #follow(remaining: number, entry: Entry | undefined): Promise<boolean> {
    const { events } = this.#engine
    if (this.#waiter === undefined) {
      this.#suppressRefresh(entry, remaining)
      return settleWithoutLoad(this.#flight, 'held')
    }
    if (events.hasListeners('follow')) events.emit('follow', { key: this.#call.key, remaining })
    this.#call.onWait?.()
    this.#permit.release()
    const by = await this.#pause(remaining)
    if (this.#flight.deserted) return settleWithoutLoad(this.#flight, 'deserted')
    if (events.hasListeners('wake')) events.emit('wake', { key: this.#call.key, by })
    return false
  }

  /** Loads for the callers alone. A background flight has none, and its value would not be stored. */
  async #loadHeldOff(remaining: number, entry: Entry | undefined): Promise<true> {
    if (this.#flight.background) {
      this.#suppressRefresh(entry, remaining)
      return settleWithoutLoad(this.#flight, 'unleased')
    }
    await loadUnleased(this.#flight, this.#call, 'unleased', this.#engine)
    return true
  }

  async #retryChanged(): Promise<boolean> {
    this.#changes += 1
    if (this.#changes <= MAX_CHANGES) return false
    await this.#pause(CHANGE_PAUSE)
    if (this.#flight.background) return settleWithoutLoad(this.#flight, 'changed')
    return this.#flight.deserted && settleWithoutLoad(this.#flight, 'deserted')
  }

  /** Waits as a follower: the time counts towards the callers' `waitTimeout`. Returns at once for a background flight. */
  async #pause(remaining: number): Promise<'notice' | 'timer'> {
    const { runtime } = this.#engine
    this.#flight.beginWait(runtime.now(), POLL_INTERVAL)
    const wokenBy = (await this.#waiter?.waitAtMost(remaining)) ?? 'timer'
    this.#flight.endWait(runtime.now())
    return wokenBy
  }

  #settleIfServable(read: Read, now: number): boolean {
    const verdict = judgeRead(this.#engine, this.#call, read, now)
    const servable = verdict === 'fresh' || (verdict === 'stale' && !this.#flight.background)
    if (read.kind !== 'found' || !servable) return false
    this.#flight.settle({ kind: 'found', entry: read.entry }, { kind: 'abandoned', why: 'changed' })
    return true
  }

  #settleCooling({ remaining, attempts, failure }: Acquire & { kind: 'cooling' }, entry: Entry | undefined): true {
    const { events } = this.#engine
    const { key } = this.#call
    if (events.hasListeners('cooling')) events.emit('cooling', { key, remaining })
    this.#suppressRefresh(entry, remaining)
    const error = new LoadFailedError(key, attempts, remaining, failure)
    this.#flight.settle({ kind: 'failed', error, failure: true }, { kind: 'abandoned', why: 'cooling' })
    return true
  }

  #suppressRefresh(entry: Entry | undefined, remaining: number): void {
    if (entry === undefined) return
    this.#coordinator.suppression.add(this.#call.key, entry.version, this.#engine.runtime.now() + remaining)
  }
}
