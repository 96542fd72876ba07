import type { Claim, ClaimedAlone, ClaimedValue } from '../claimed.ts'
import type { Call, HandOut } from '../flight/call.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import { Deferred } from '../flight/deferred.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Flight } from '../flight/flight.ts'
import type { LeaseTerm } from '../flight/lease-term.ts'
import { HANDED_OVER, type Load } from '../load.ts'
import type { PermitSource } from '../flight/permits.ts'
import { claimSettings } from '../options/parse-call-options.ts'
import { requireTtl, type Settings } from '../options/settings.ts'
import { orAbort } from './abort-listeners.ts'
import { HeldLead } from './held-lead.ts'
import type { Lookups } from './lookup.ts'
import { identity, type Served } from './served.ts'

/**
 * Runs `cache.claim`: a call whose flight hands its lead out, where the flight of `getOrSet` runs a loader.
 */
export class Claims {
  readonly #services: EngineServices
  readonly #lookups: Lookups
  readonly #settings: Settings
  readonly #permits: PermitSource

  /** `settings`, `permits`: those of the cache, or of a view of it. */
  constructor(coordinator: LoadCoordinator, lookups: Lookups, settings: Settings, permits: PermitSource) {
    this.#services = coordinator.services
    this.#lookups = lookups
    this.#settings = settings
    this.#permits = permits
  }

  claim(key: string, requestedKey: string, options: object | undefined): Promise<Claim<unknown>> {
    const settings = claimSettings(this.#settings, options)
    requireTtl(settings)
    const hit = this.#lookups.hit(key, settings)
    if (hit !== undefined) return Promise.resolve(valueOf(hit))
    const answer = new Deferred<Claim<unknown>>()
    const claiming = new Claiming(answer, settings, this.#services)
    const loader = (load: Load<never>): unknown => claiming.onLoad(load)
    const call: Call = { storedKey: key, requestedKey, loader, settings, permits: this.#permits, handOut: claiming }
    this.#lookups.run(call, identity).then(
      (served) => claiming.onServed(served),
      (error: unknown) => claiming.onError(error),
    )
    return answer.promise
  }
}

function valueOf({ value, status, from, age, freshFor }: Served): ClaimedValue<unknown> {
  return { kind: 'value', value, status, from, age, freshFor }
}

/** One call of `claim`, until it has its answer. A lead that its flight gets after that is handed over. */
class Claiming implements HandOut {
  readonly #settings: Settings
  readonly #services: EngineServices
  /**
   * Undefined once it is given: the flight refers to this object, and so would keep a lead that its
   * holder lost.
   */
  #answer: Deferred<Claim<unknown>> | undefined
  #flight: Flight | undefined
  #term: LeaseTerm | undefined

  constructor(answer: Deferred<Claim<unknown>>, settings: Settings, services: EngineServices) {
    this.#answer = answer
    this.#settings = settings
    this.#services = services
  }

  get given(): boolean {
    return this.#answer === undefined
  }

  onFlight(flight: Flight): void {
    this.#flight = flight
  }

  onLead(term: LeaseTerm): void {
    this.#term = term
  }

  onAlone(why: ClaimedAlone['why']): void {
    this.#resolve({ kind: 'alone', why })
  }

  /** The loader of the call: hands the lead out, and returns what its holder ends it with. */
  onLoad(load: Load<never>): unknown {
    if (this.given || this.#flight === undefined || this.#term === undefined) return HANDED_OVER
    const held = new HeldLead(load, this.#flight, this.#term, this.#settings, this.#services)
    this.#resolve(held.newLead())
    return held.result
  }

  /**
   * The call was served what others have stored or loaded. It waits for the refresh of a stale entry only if
   * this call began that refresh: its flight may bring the lead.
   */
  onServed(served: Served): void {
    const { refresh } = served
    const onValue = (): void => this.#resolve(valueOf(served))
    if (refresh?.background !== true || refresh !== this.#flight) return onValue()
    const { signal } = this.#settings
    const ended = signal === undefined ? refresh.outcome : orAbort(refresh.outcome, signal)
    void ended.then(onValue, (reason: unknown) => this.onError(reason))
  }

  onError(error: unknown): void {
    this.#answer?.reject(error)
    this.#answer = undefined
  }

  #resolve(claim: Claim<unknown>): void {
    this.#answer?.resolve(claim)
    this.#answer = undefined
  }
}
