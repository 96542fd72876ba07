import type { ReleasePermit } from '../flight/admission-control.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Engine } from '../flight/engine.ts'
import { type Call, type StoreRead, verdictOn } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ClosedError, LoadFailedError } from '../errors.ts'
import type { Flight } from '../flight/flight.ts'
import { POLL_INTERVAL, type LeaseWaiter } from '../flight/lease-waiters.ts'
import { lead, loadUnleased } from './lead.ts'
import type { Abandoned } from '../load.ts'
import type { Acquire, Away, Read } from '../store/store.ts'

/** A store that answers "changed" more often than this is waited for instead: a load never begins without a lease because of it. */
const MOST_CHANGES = 8
/** How long that wait is, ms. */
const CHANGE_PAUSE = 50

/** The turn of a load that needs none: its batch has one for all of its keys. */
const NO_PERMIT: ReleasePermit = () => undefined

/** The road of one flight: ask for the lease; then lead, follow, or stand aside. Always lands the flight, and never rejects. */
export function runRefresh(flight: Flight, call: Call, look: StoreRead, coordinator: LoadCoordinator): Promise<void> {
  return take((asking) => asking.run(look), flight, call, coordinator)
}

/** The road of a flight that asks nobody: its load runs unleased, for its own caller. `turn`: one that it has already. */
export function runUnleased(
  flight: Flight,
  call: Call,
  coordinator: LoadCoordinator,
  turn?: ReleasePermit,
): Promise<void> {
  return take((asking) => asking.runUnleased(turn), flight, call, coordinator)
}

async function take(
  road: (asking: RefreshRun) => Promise<void>,
  flight: Flight,
  call: Call,
  coordinator: LoadCoordinator,
): Promise<void> {
  const asking = new RefreshRun(flight, call, coordinator)
  try {
    await road(asking)
  } catch (error) {
    // A store or policy that throws breaks its contract; its callers must not hang on it.
    flight.settle({ kind: 'failed', error, failure: true }, { kind: 'failed', error, cooldown: 0 })
  } finally {
    asking.disarm()
  }
}

class RefreshRun {
  readonly #flight: Flight
  readonly #call: Call
  readonly #coordinator: LoadCoordinator
  readonly #engine: Engine
  /** Armed before the acquire: a notice between its answer and our wait must not be lost. */
  readonly #waiter: LeaseWaiter | undefined
  #changes = 0
  #closed = false
  #releasePermit: ReleasePermit | undefined
  #leaveQueue: (() => void) | undefined

  constructor(flight: Flight, call: Call, coordinator: LoadCoordinator) {
    this.#flight = flight
    this.#call = call
    this.#coordinator = coordinator
    this.#engine = coordinator.engine
    this.#waiter = flight.background ? undefined : coordinator.leaseWaiters.arm(call.key)
    flight.onAbandoned = () => this.#stopWaiting()
    flight.cut = () => {
      this.#closed = true
      this.#stopWaiting()
    }
  }

  disarm(): void {
    this.#releasePermit?.()
    if (this.#waiter !== undefined) this.#coordinator.leaseWaiters.disarm(this.#call.key, this.#waiter)
  }

  async run(first: StoreRead): Promise<void> {
    let { read, took } = first
    for (;;) {
      if (!(await this.#takePermit())) return
      if (read.kind === 'away') return this.#withoutStore('read', read)
      const entry = read.kind === 'found' ? read.entry : undefined
      const sent = this.#engine.runtime.now()
      const answer = await this.#acquire(read, took)
      if (read.away === undefined) this.#remember(answer, sent)
      if (await this.#act(answer, entry)) return
      const asked = this.#engine.runtime.now()
      read = await this.#engine.store.read(this.#call.key, this.#call.settings.codec)
      took = this.#engine.runtime.now() - asked
      this.#call.previousVersion?.note(read)
      if (read.kind === 'found' && this.#servable(read.entry)) {
        this.#flight.settle({ kind: 'found', entry: read.entry }, { kind: 'abandoned', why: 'changed' })
        return
      }
    }
  }

  async runUnleased(turn: ReleasePermit | undefined): Promise<void> {
    // A batch has a turn of its own, which it may have given back: with this one kept from it, it would wait for ever.
    if (this.#call.sharedWaiter === undefined) this.#releasePermit = turn
    else turn?.()
    if (!(await this.#takePermit())) return
    await loadUnleased(this.#flight, this.#call, 'unleased', undefined, this.#engine)
  }

  /**
   * A turn to load comes before the lease: waiting for one with the lease in hand would keep the key from processes that have time for it.
   * False when the flight has landed without one.
   */
  async #takePermit(): Promise<boolean> {
    const { admission, runtime } = this.#engine
    if (this.#closed) return !this.#abandoned('closed')
    this.#releasePermit ??=
      this.#call.sharedWaiter !== undefined ? NO_PERMIT : admission.turn(this.#flight.background ? [] : undefined)
    if (this.#releasePermit !== undefined) return true
    if (this.#flight.background) return !this.#abandoned('busy')
    this.#call.onWait?.()
    const turn = new Promise<ReleasePermit | undefined>((resolve) => {
      const leave = admission.queueForPermit(resolve)
      this.#leaveQueue = () => {
        leave()
        resolve(undefined)
      }
    })
    // In the queue by now: a caller without patience gives up on hearing this, and takes the flight out of it.
    this.#flight.follow(runtime.now())
    this.#releasePermit = await turn
    this.#leaveQueue = undefined
    this.#flight.stopFollowing(runtime.now())
    return this.#releasePermit !== undefined || !this.#abandoned(this.#closed ? 'closed' : 'deserted')
  }

  #stopWaiting(): void {
    this.#waiter?.wake()
    this.#leaveQueue?.()
  }

  #acquire(read: Exclude<Read, Away>, spent: number): Promise<Acquire> {
    const { key, settings } = this.#call
    const seen = read.kind === 'found' ? read.entry.version : read.version
    return this.#engine.store.acquire(key, {
      duration: settings.leaseDuration,
      seen,
      away: read.away !== undefined,
      wake: !this.#flight.background,
      // A loader may name its tags as late as it likes, so the sequence is always noted.
      tags: true,
      // Nobody waits for what goes on behind.
      spent: this.#flight.background ? 0 : spent,
    })
  }

  /** Not where a notice has overtaken the answer: the mark may be over, and nobody would say so again. */
  #remember(answer: Acquire, sent: number): void {
    if (answer.kind !== 'uncacheable' || answer.share || this.#waiter?.noticed !== false) return
    this.#coordinator.unshareable.add(this.#call.key, answer.remaining, sent)
  }

  /** Acts on the store's answer; true when the flight has landed, false when it is to look again. */
  async #act(answer: Acquire, entry: Entry | undefined): Promise<boolean> {
    if (answer.kind !== 'lead' && this.#closed) return this.#abandoned('closed')
    if (answer.kind !== 'lead' && this.#unwanted) return this.#abandoned('deserted')
    switch (answer.kind) {
      case 'lead':
        await this.#lead(answer, entry)
        return true
      case 'held':
        return this.#held(answer.remaining, entry)
      case 'cooling':
        this.#cooling(answer, entry)
        return true
      case 'uncacheable':
        await this.#uncacheable(answer.share)
        return true
      case 'held-off':
        await loadUnleased(this.#flight, this.#call, 'unleased', undefined, this.#engine)
        return true
      case 'changed':
        this.#changes += 1
        if (this.#changes > MOST_CHANGES) await this.#pause(CHANGE_PAUSE)
        if (this.#changes <= MOST_CHANGES) return false
        return (
          (this.#flight.background && this.#abandoned('changed')) || (this.#unwanted && this.#abandoned('deserted'))
        )
      case 'away':
        await this.#withoutStore('acquire', answer)
        return true
    }
  }

  async #lead({ lease }: Acquire & { kind: 'lead' }, entry: Entry | undefined): Promise<void> {
    const { store, events } = this.#engine
    const { background } = this.#flight
    if (this.#closed || this.#unwanted) {
      await store.release(lease, { kind: 'handover' })
      this.#abandon(this.#closed ? 'closed' : 'deserted')
      return
    }
    if (events.hasListeners('lead')) events.emit('lead', { key: this.#call.key, background })
    await lead(this.#flight, this.#call, lease, this.#usable(entry), this.#engine)
  }

  async #held(remaining: number, entry: Entry | undefined): Promise<boolean> {
    const { events } = this.#engine
    if (this.#waiter === undefined) {
      this.#suppress(entry, remaining)
      return this.#abandoned('held')
    }
    if (events.hasListeners('follow')) events.emit('follow', { key: this.#call.key, remaining })
    this.#call.onWait?.()
    this.#releasePermit?.()
    this.#releasePermit = undefined
    const by = await this.#pause(remaining)
    if (this.#unwanted) return this.#abandoned('deserted')
    if (events.hasListeners('wake')) events.emit('wake', { key: this.#call.key, by })
    return false
  }

  /** Time that counts into the callers' `waitTimeout`. A background flight, which nobody waits for, never pauses. */
  async #pause(remaining: number): Promise<'notice' | 'timer'> {
    const { runtime } = this.#engine
    this.#flight.follow(runtime.now(), POLL_INTERVAL)
    const by = (await this.#waiter?.waitUntil(remaining)) ?? 'timer'
    this.#flight.stopFollowing(runtime.now())
    return by
  }

  #cooling({ remaining, attempts, failure }: Acquire & { kind: 'cooling' }, entry: Entry | undefined): void {
    const { events } = this.#engine
    const { key } = this.#call
    if (events.hasListeners('cooling')) events.emit('cooling', { key, remaining })
    this.#suppress(entry, remaining)
    const error = new LoadFailedError(key, attempts, remaining, failure)
    this.#flight.settle({ kind: 'failed', error, failure: true }, { kind: 'abandoned', why: 'cooling' })
  }

  /** Nobody queues for what will not be kept. Where it may be shared, one load serves the callers that are here. */
  async #uncacheable(share: boolean): Promise<void> {
    if (this.#flight.background) this.#abandon('unleased')
    else if (share) await loadUnleased(this.#flight, this.#call, 'unleased', undefined, this.#engine)
    else this.#flight.settle({ kind: 'alone' }, { kind: 'abandoned', why: 'unleased' })
  }

  /** The store is away: one load per process still serves everybody here. Behind a stale value it would serve nobody. */
  async #withoutStore(step: string, { cause }: Away): Promise<void> {
    const { events } = this.#engine
    if (events.hasListeners('away')) events.emit('away', { key: this.#call.key, step, error: cause })
    if (this.#flight.background) this.#abandon('away')
    else await loadUnleased(this.#flight, this.#call, 'away', undefined, this.#engine)
  }

  /** Nobody waits for it, nor counts on it behind a stale value. */
  get #unwanted(): boolean {
    return this.#flight.abandoned && !this.#flight.background
  }

  #suppress(entry: Entry | undefined, remaining: number): void {
    if (entry === undefined) return
    this.#coordinator.suppression.add(this.#call.key, entry.version, this.#engine.runtime.now() + remaining)
  }

  #servable(entry: Entry): boolean {
    const verdict = verdictOn(this.#engine, this.#call, entry, this.#engine.runtime.now())
    return verdict === 'fresh' || (verdict === 'stale' && !this.#flight.background)
  }

  #usable(entry: Entry | undefined): Entry | undefined {
    if (entry === undefined) return undefined
    const verdict = this.#engine.freshness.judge(entry, this.#engine.runtime.now(), this.#call.settings)
    return verdict === 'gone' ? undefined : entry
  }

  #abandoned(why: Abandoned): true {
    this.#abandon(why)
    return true
  }

  #abandon(why: Abandoned): void {
    const result =
      why === 'closed'
        ? { kind: 'failed' as const, error: new ClosedError(), failure: false }
        : { kind: 'again' as const }
    this.#flight.settle(result, { kind: 'abandoned', why })
  }
}
