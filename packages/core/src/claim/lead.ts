import { type AbandonReason, ABSENT, type Outcome } from '../load.ts'
import { ZERO_TTL } from '../options/parse-call-options.ts'
import { warnOfMissingIn } from '../flight/name-check.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import { type Call, replacedEntry } from '../flight/call.ts'
import type { Entry, NewEntry } from '../entry.ts'
import { failureOf, LeaseLostError } from '../errors.ts'
import { leaseId } from '../events/lease-holder.ts'
import { emitAway } from '../flight/emit-away.ts'
import type { Flight } from '../flight/flight.ts'
import { LeaseTerm } from '../flight/lease-term.ts'
import type { Settled } from '../flight/flight-waiters.ts'
import { KeepAlive } from './keep-alive.ts'
import { answerOf, type Commit, type Lease, type Released } from '../store/answers.ts'
import type { Ending } from '../store/store.ts'
import type { LoadPermit } from './load-permit.ts'
import { isFailure } from './load-error.ts'
import { emitOutcome, type LoadResult, LoadRun, UNCACHEABLE_FOR, type UncacheableMark } from './load-run.ts'
import { newEntry } from './new-entry.ts'
import { retryJoinersIfOwnAbort, settleAbsent, settleAbandoned } from './settle-flight.ts'

/**
 * Runs the load of a flight under its lease, and commits the result: "How a load ends" in
 * docs/architecture.md has every case. `entry`: the key's entry in the store.
 */
export function lead(
  flight: Flight,
  call: Call,
  lease: Lease,
  permit: LoadPermit,
  entry: Entry | undefined,
  services: EngineServices,
): Promise<void> {
  const replaced = replacedEntry(services, call, entry)
  return new LeasedLoad(flight, call, lease, permit, services).run(replaced)
}

class LeasedLoad {
  readonly #flight: Flight
  readonly #call: Call
  readonly #lease: Lease
  readonly #term: LeaseTerm
  readonly #services: EngineServices
  readonly #load: LoadRun
  #releasing: Promise<Released> | undefined
  #renewals: KeepAlive | undefined
  /** True once the store has refused to renew the lease. */
  #renewalRefused = false
  /**
   * True from the end of the load: the answer to the step that ends the lease then tells whether it was held.
   */
  #ending = false

  constructor(flight: Flight, call: Call, lease: Lease, permit: LoadPermit, services: EngineServices) {
    this.#flight = flight
    this.#call = call
    this.#lease = lease
    this.#services = services
    const { loadTimeout, leaseDuration: duration, maxHold } = call.settings
    this.#term = new LeaseTerm(lease, { duration, maxHold: maxHold ?? loadTimeout + duration }, services)
    this.#load = new LoadRun(call, services, permit, (mark) => this.#markUnshareable(mark))
  }

  async run(replaced: Entry | undefined): Promise<void> {
    const { activity } = this.#services
    activity.leases += 1
    try {
      const { handOut } = this.#call
      if (handOut !== undefined) handOut.onLead(this.#term)
      else this.#renewals = new KeepAlive(this.#term, this.#services, (why) => this.#loseLease(why))
      const { result, took } = await this.#load.run(this.#flight, replaced, true)
      this.#ending = true
      // Keep-alive runs on until this is answered: in a burst, the step that ends the lease may wait for its
      // turn for longer than the lease lasts.
      const outcome = await this.#conclude(result, took)
      emitOutcome(this.#services, this.#flight, outcome, took, true)
    } finally {
      this.#renewals?.stop()
      activity.leases -= 1
    }
  }

  #conclude(result: LoadResult, took: number): Promise<Outcome> {
    if (result.kind === 'abandoned') return this.#abandon(result.why)
    if (result.kind === 'error') return this.#fail(result.error)
    return result.value === ABSENT ? this.#endAbsent() : this.#commit(result.value, took)
  }

  /** The batch returned no value for this key: the lease goes to the next caller that wants one. */
  async #endAbsent(): Promise<Outcome> {
    const releasing = this.#release({ kind: 'handover' })
    const outcome = settleAbsent(this.#flight)
    await releasing
    return outcome
  }

  async #abandon(why: AbandonReason): Promise<Outcome> {
    const releasing = this.#release({ kind: 'handover' })
    settleAbandoned(this.#flight, why)
    await releasing
    return { kind: 'abandoned', why }
  }

  /**
   * A load for which callers wait goes on, whatever ended its lease. Without callers, or when the last one
   * leaves, the loader's signal is aborted.
   */
  #loseLease(why: string): void {
    if (this.#ending) return
    const { events } = this.#services
    this.#renewalRefused = why !== 'max-hold'
    if (events.hasListeners('lease-lost')) events.emit('lease-lost', { ...this.#ids, why })
    this.#flight.onLastCallerLeft(() => this.#load.requestStop(new LeaseLostError(this.#call.storedKey)))
  }

  /**
   * Releases all other callers at once, here and in other processes: they can never have this result, so they
   * must not wait for it.
   */
  #markUnshareable(mark: UncacheableMark): void {
    this.#flight.settleJoiners('load-alone')
    // This release ends the lease: a further renewal would be refused and reported as a lost lease.
    this.#renewals?.stop()
    void this.#releaseUncacheable(mark)
  }

  async #commit(value: unknown, took: number): Promise<Outcome> {
    const { mark, settings } = this.#load
    if (mark !== undefined) return this.#endUncacheable(value, mark)
    // The old value goes, and the key is not marked: the next result may be kept.
    if (settings.ttl === ZERO_TTL) return this.#endUncacheable(value, { for: 0, share: true, why: 'ttl' })
    const { store, runtime, events, codecCheck, pause } = this.#services
    if (pause.on) return this.#withhold(value)
    let entry: NewEntry
    try {
      codecCheck.check(this.#call.storedKey, value, settings.codec)
      entry = newEntry(value, took, settings, runtime.random())
      warnOfMissingIn(settings.tags, events)
    } catch (error) {
      // The codec would change the value (`strictCodec`), or `freeze` could not make it read-only: for
      // example, it has a revoked proxy in it.
      return this.#fail(error)
    }
    const result: Settled = { kind: 'loaded', value, freshFor: entry.ttl }
    // The store calls it after one `storeTimeout`: callers get the outcome `abandoned`, `away`. The store's
    // last answer may take four (`guarded-store`). The `outcome` event waits for that answer, and only that
    // answer makes the fallback store keep the value.
    const onSlow = (): void => void this.#settleFlight(result, { kind: 'abandoned', why: 'away' })
    const sentAt = runtime.elapsed()
    // No call may join from here: an invalidation may be acknowledged after the commit and before that call.
    this.#flight.detach()
    const committing = answerOf(() => store.commit(this.#lease, entry, this.#call.settings.codec, onSlow))
    // Early callers need not wait for the store's answer.
    this.#flight.settleOwnerAndEarly(result)
    const answered = await committing
    const answer: Commit = answered.kind === 'refused' ? this.#term.refusalOf(answered) : answered
    this.#emitCommit(answer, entry, sentAt)
    return this.#settleCommit(answer, result)
  }

  /** The cache was paused during the load: its callers get the value, and nothing is stored. */
  async #withhold(value: unknown): Promise<Outcome> {
    this.#flight.detach()
    const result: Settled = { kind: 'loaded', value, freshFor: 0 }
    const releasing = this.#release({ kind: 'handover' })
    this.#flight.settleOwnerAndEarly(result)
    return this.#settleFlight(resultForLateJoiners(await releasing, result), { kind: 'abandoned', why: 'unleased' })
  }

  #emitCommit(answer: Commit, { ttl, tags }: NewEntry, sentAt: number): void {
    const { events, runtime } = this.#services
    const { key, id: flight } = this.#flight
    if (answer.kind === 'refused' && events.hasListeners('refused'))
      events.emit('refused', { ...this.#ids, why: answer.why, took: runtime.elapsed() - sentAt })
    if (answer.kind !== 'stored') return
    if (events.hasListeners('commit'))
      events.emit('commit', { ...this.#ids, tags, ttl, took: runtime.elapsed() - sentAt })
    if (this.#renewalRefused) events.emit('violation', { key, flight, what: 'commit-after-loss' })
  }

  /** What the events of the lease have in common. */
  get #ids(): { readonly key: string; readonly flight: number; readonly lease: string } {
    return { key: this.#flight.key, flight: this.#flight.id, lease: leaseId(this.#lease.token) }
  }

  #settleCommit(answer: Commit, result: Settled): Outcome | Promise<Outcome> {
    const { events } = this.#services
    const key = this.#call.storedKey
    switch (answer.kind) {
      case 'stored':
        return this.#settleFlight(result, { kind: 'committed' })
      case 'refused':
        return this.#settleFlight({ kind: 'retry' }, { kind: 'refused', why: answer.why })
      case 'unkeepable': {
        if (events.hasListeners(answer.why)) events.emit(answer.why, { key, error: answer.cause })
        return this.#settleUncacheable(result, { for: UNCACHEABLE_FOR, share: true, why: answer.why })
      }
      case 'away':
        emitAway(this.#services.events, this.#call.storedKey, 'commit', answer)
        return this.#settleFlight(result, { kind: 'abandoned', why: 'away' })
    }
  }

  async #endUncacheable(value: unknown, mark: UncacheableMark): Promise<Outcome> {
    this.#flight.detach()
    const result: Settled = { kind: 'loaded', value, freshFor: 0 }
    const settling = this.#settleUncacheable(result, mark)
    this.#flight.settleOwnerAndEarly(result)
    return await settling
  }

  /** Late joiners wait for the end of the lease, and read again if the store refuses it. */
  async #settleUncacheable(result: Settled, mark: UncacheableMark): Promise<Outcome> {
    const released = await this.#releaseUncacheable(mark)
    return this.#settleFlight(resultForLateJoiners(released, result), { kind: 'uncacheable', ...mark })
  }

  async #fail(error: unknown): Promise<Outcome> {
    const { cooldown: policy, events } = this.#services
    const { storedKey: key, settings } = this.#call
    const mayServeStale = isFailure(settings, error)
    const { mark } = this.#load
    // A key that its loader marked uncacheable does not cool down, however the load ends.
    const coolsDown = mayServeStale && mark === undefined
    const attempts = this.#lease.attempts + 1
    const cooldown = coolsDown ? policy.after(attempts, settings.cooldown) : 0
    if (coolsDown && events.hasListeners('load-failed')) events.emit('load-failed', { key, error, cooldown })
    this.#flight.detach()
    retryJoinersIfOwnAbort(this.#flight, settings, error)
    const ending: Ending = coolsDown
      ? { kind: 'failed', failure: failureOf(error, settings.shareErrorMessages), cooldown, attempts }
      : { kind: 'handover' }
    const releasing = mark === undefined ? this.#release(ending) : this.#releaseUncacheable(mark)
    const outcome = this.#failedOutcome(error, cooldown)
    this.#settleFlight({ kind: 'failed', error, mayServeStale }, outcome)
    await releasing
    return outcome
  }

  #failedOutcome(error: unknown, cooldown: number): Outcome {
    const { mark } = this.#load
    return mark !== undefined ? { kind: 'uncacheable', ...mark } : { kind: 'failed', error, cooldown }
  }

  #releaseUncacheable({ for: remaining, share }: UncacheableMark): Promise<Released> {
    return this.#release({ kind: 'uncacheable', for: remaining, share })
  }

  /** Only the first ending counts: it ends the lease. */
  #release(ending: Ending): Promise<Released> {
    this.#releasing ??= this.#sendRelease(ending)
    return this.#releasing
  }

  async #sendRelease(ending: Ending): Promise<Released> {
    const answer = await answerOf(() => this.#services.store.release(this.#lease, ending))
    if (answer.kind === 'away') emitAway(this.#services.events, this.#call.storedKey, 'release', answer)
    return answer
  }

  #settleFlight(result: Settled, outcome: Outcome): Outcome {
    this.#flight.settle(result, outcome)
    return outcome
  }
}

/**
 * If the lease was void at its release, an invalidation may have voided it before a late joiner's call: the
 * late joiners then read again.
 */
function resultForLateJoiners(released: Released, result: Settled): Settled {
  return released.kind === 'refused' ? { kind: 'retry' } : result
}
