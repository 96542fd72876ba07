import type { ClaimedLead } from '../claimed.ts'
import { LoaderArgument } from '../claim/loader-argument.ts'
import { LeaseLostError } from '../errors.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import { Deferred } from '../flight/deferred.ts'
import type { Flight } from '../flight/flight.ts'
import type { LeaseTerm } from '../flight/lease-term.ts'
import { leaseId } from '../events/lease-holder.ts'
import { HANDED_OVER, type KeepOptions, type Load, type Outcome, type UncacheableOptions } from '../load.ts'
import { refuseThenable } from '../options/operation-options.ts'
import { withKeepOptions } from '../options/parse-call-options.ts'
import type { Settings } from '../options/settings.ts'
import type { CancelTimer } from '../runtime/runtime.ts'
import type { Refused } from '../store/answers.ts'

/** Leads that were dropped and collected before they ended: nobody can end them any more. */
const collected = new FinalizationRegistry<HeldLead>((held) => held.onCollected())

/**
 * The lead of a claim, from its grant to its end. It lasts for the claim's `hold`, which `leaseDuration` is
 * here, and is not renewed by itself. It refers to nothing that its holder has: so a lead that the holder
 * dropped is collected, and handed over.
 */
export class HeldLead {
  readonly #load: Load<never>
  readonly #flight: Flight
  readonly #term: LeaseTerm
  readonly #settings: Settings
  readonly #services: EngineServices
  readonly #abort = new AbortController()
  readonly #ended = new Deferred<unknown>()
  #isOver = false
  /** The outcome, where the lease was lost before the holder ended the lead. */
  #refused: Outcome | undefined
  #cancelTimer: CancelTimer

  constructor(load: Load<never>, flight: Flight, term: LeaseTerm, settings: Settings, services: EngineServices) {
    this.#load = load
    this.#flight = flight
    this.#term = term
    this.#settings = settings
    this.#services = services
    LoaderArgument.onStop(load, (reason) => this.#stop(reason))
    this.#cancelTimer = this.#scheduleEnd()
  }

  /** What ends the load: a value, a rejection, or `HANDED_OVER`. */
  get result(): Promise<unknown> {
    return this.#ended.promise
  }

  get stale(): Load<never>['stale'] {
    return this.#load.stale
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Makes what its holder gets. Once. */
  newLead(): ClaimedLead<unknown> {
    const lead = new Lead(this)
    collected.register(lead, this, this)
    return lead
  }

  commit(value: unknown, options: KeepOptions | undefined): Promise<Outcome> {
    refuseThenable('commit', value)
    if (options !== undefined) {
      withKeepOptions(this.#settings, options, 'commit')
      this.#load.keep(options)
    }
    return this.#end(() => this.#ended.resolve(value))
  }

  fail(error: unknown): Promise<Outcome> {
    return this.#end(() => this.#ended.reject(error))
  }

  uncacheable(options: UncacheableOptions | undefined): Promise<Outcome> {
    // Whoever waits can have no value of this load: `share: false` has them load for themselves.
    if (!this.#isOver) this.#load.uncacheable({ ...options, share: false })
    return this.#end(() => this.#ended.resolve(undefined))
  }

  async handOver(): Promise<void> {
    await this.#end(() => this.#ended.resolve(HANDED_OVER))
  }

  async renew(): Promise<boolean> {
    if (this.#isOver) return false
    const { events } = this.#services
    const answer = await this.#term.renew()
    if (this.#isOver) return false
    if (answer.kind === 'refused') this.#lose(answer.why)
    if (answer.kind !== 'renewed') return false
    if (events.hasListeners('renew')) events.emit('renew', { key: this.#term.lease.key, remaining: answer.remaining })
    this.#cancelTimer()
    this.#cancelTimer = this.#scheduleEnd()
    return true
  }

  #scheduleEnd(): CancelTimer {
    return this.#services.runtime.schedule(() => this.#lose('expired'), this.#term.left)
  }

  onCollected(): void {
    const { key } = this.#term.lease
    this.#services.events.warnOnce(
      `The lead of '${key.slice(0, 100)}' was garbage collected before it ended, and is handed over. ` +
        "End each lead with commit, fail, uncacheable or handOver, or take it with 'await using'.",
      'CATTLEGRID_CLAIM_LOST',
    )
    void this.handOver()
  }

  /** Only the first ending counts. */
  #end(ending: () => void): Promise<Outcome> {
    if (!this.#isOver) {
      this.#finish()
      ending()
    }
    return this.#refused === undefined ? this.#flight.outcome : Promise.resolve(this.#refused)
  }

  #finish(): void {
    this.#isOver = true
    this.#cancelTimer()
    collected.unregister(this)
  }

  /** The lease has ended before the lead: those that wait ask for it anew. */
  #lose(why: Refused['why']): void {
    const { events } = this.#services
    const { key, token } = this.#term.lease
    if (events.hasListeners('lease-lost'))
      events.emit('lease-lost', { key, flight: this.#flight.id, lease: leaseId(token), why })
    this.#refused = { kind: 'refused', why }
    this.#finish()
    this.#abort.abort(new LeaseLostError(key))
    this.#ended.resolve(HANDED_OVER)
  }

  /**
   * The cache closes, or `loadTimeout` has passed, which comes after `hold` (`claimSettings`): the lease goes
   * back, and what the holder does from now on has no effect.
   */
  #stop(reason: unknown): void {
    this.#finish()
    this.#abort.abort(reason)
  }
}

/** What the holder of a lead has. */
class Lead implements ClaimedLead<unknown> {
  readonly kind = 'lead'
  readonly #held: HeldLead

  constructor(held: HeldLead) {
    this.#held = held
  }

  get stale(): ClaimedLead<unknown>['stale'] {
    return this.#held.stale
  }

  get signal(): AbortSignal {
    return this.#held.signal
  }

  async commit(value: unknown, options?: KeepOptions): Promise<Outcome> {
    return await this.#held.commit(value, options)
  }

  async fail(error: unknown): Promise<Outcome> {
    return await this.#held.fail(error)
  }

  async uncacheable(options?: Omit<UncacheableOptions, 'share'>): Promise<Outcome> {
    return await this.#held.uncacheable(options)
  }

  async handOver(): Promise<void> {
    await this.#held.handOver()
  }

  async renew(): Promise<boolean> {
    return await this.#held.renew()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#held.handOver()
  }
}
