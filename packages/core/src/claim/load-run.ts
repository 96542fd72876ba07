import { Deferred } from '../flight/deferred.ts'
import { warnOfMissingIn, warnOfObjectIn } from '../flight/name-check.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Call } from '../flight/call.ts'
import type { Flight, FlightStep } from '../flight/flight.ts'
import { ageOf, type Entry } from '../entry.ts'
import type { CancelTimer } from '../runtime/runtime.ts'
import { LoadTimeoutError } from '../errors.ts'
import { HANDED_OVER, type KeepOptions, type Load, type Outcome, type UncacheableOptions } from '../load.ts'
import type { LoadPermit } from './load-permit.ts'
import { type LoadControls, LoaderArgument, type LoadMode, StaleValue, type StopListener } from './loader-argument.ts'
import { closeLoadScope, currentLoadScope, type LoadScope, runInLoad } from '../flight/reentrancy.ts'
import { checkOptions } from '../option-rules/check-options.ts'
import { booleanRule, durationRule, textRule } from '../option-rules/option-rules.ts'
import type { OptionRules } from '../option-rules/option-rule.ts'
import { withKeepOptions } from '../options/parse-call-options.ts'
import type { Settings } from '../options/settings.ts'

/** The end of one run of the loader. */
export type LoadResult =
  | { readonly kind: 'value'; readonly value: unknown }
  /** The loader threw, or reached `loadTimeout`. */
  | { readonly kind: 'error'; readonly error: unknown }
  /**
   * The cache was closed; or nobody waited any more when the loader call of the batch began; or the holder of
   * a claim gave it up.
   */
  | { readonly kind: 'abandoned'; readonly why: 'closed' | 'no-waiters' | 'handed-over' }

/** `took`: the time from the call of the loader, ms; 0 if it was not called. */
export interface LoadEnd {
  readonly result: LoadResult
  readonly took: number
}

const HANDED_OVER_RESULT: LoadResult = { kind: 'abandoned', why: 'handed-over' }

export interface UncacheableMark {
  readonly for: number
  readonly share: boolean
  readonly why?: string | undefined
}

/**
 * The time for which a key stays uncacheable unless the loader gives `for`; also when the store could not
 * keep its value. ms
 */
export const UNCACHEABLE_FOR = 10_000

const uncacheableRules = {
  for: durationRule(1),
  share: booleanRule,
  why: textRule('a string of 1 to 100 characters', /^.{1,100}$/s),
} satisfies OptionRules<UncacheableOptions>

/**
 * One run of a loader: its time-out, its `Load` object, and the decisions that the loader takes through it.
 */
export class LoadRun implements FlightStep, LoadControls {
  readonly #call: Call
  readonly #services: EngineServices
  readonly #permit: LoadPermit
  readonly #onUnshareable: (mark: UncacheableMark) => void
  /** Undefined until the loader reads its signal: most never do. */
  #abort: AbortController | undefined
  /** Undefined until the load is stopped. */
  #stopped: { readonly reason: unknown } | undefined
  #stopListeners: StopListener[] | undefined
  readonly #ending = new Deferred<LoadEnd>()
  #scope: LoadScope | undefined
  #load: Load<never> | undefined
  #beganAt: number | undefined
  #cancelTimeout: CancelTimer = () => undefined
  #ended = false
  #timedOut = false
  /** Defined while the loader runs, also after the end of the load. */
  #loader: Promise<void> | undefined
  #settings: Settings
  #mark: UncacheableMark | undefined

  /**
   * `permit` is released when the load ends. `onUnshareable` is called as soon as the loader restricts the
   * result to its own caller, while the load still runs.
   */
  constructor(
    call: Call,
    services: EngineServices,
    permit: LoadPermit,
    onUnshareable: (mark: UncacheableMark) => void,
  ) {
    this.#call = call
    this.#services = services
    this.#permit = permit
    this.#onUnshareable = onUnshareable
    this.#settings = call.settings
  }

  /** The call's settings, overridden by the loader's `keep`. */
  get settings(): Settings {
    return this.#settings
  }

  /** Defined once the loader has called `uncacheable`. */
  get mark(): UncacheableMark | undefined {
    return this.#mark
  }

  /** Aborts the loader's signal only: the result still counts if it comes. */
  requestStop(reason: unknown): void {
    if (this.#stopped !== undefined) return
    this.#stopped = { reason }
    this.#abort?.abort(reason)
    for (const listener of this.#stopListeners ?? []) listener(reason)
  }

  /** Ends the load at once, whatever the loader does. Callers that leave do not end it. */
  abort(reason: unknown): void {
    this.#end({ kind: 'abandoned', why: 'closed' })
    this.requestStop(reason)
  }

  /**
   * Runs the loader as the step of `flight`. Ends within `loadTimeout` of the call of its loader, and
   * never rejects.
   */
  run(flight: Flight, replaced: Entry | undefined, leased: boolean): Promise<LoadEnd> {
    const { storedKey: key, batch } = this.#call
    const { runtime, events, admission, activity } = this.#services
    const { background } = flight
    warnOfObjectIn(key, events)
    warnOfMissingIn([key], events)
    activity.loading += 1
    const now = runtime.elapsed()
    flight.beginLoad(now)
    // The call that triggered a background load does not wait for it, so it is not inside that call's load.
    const scope = admission.openLoadScope(background ? undefined : currentLoadScope(), [key])
    this.#scope = scope
    flight.setStep(this)
    if (events.hasListeners('load'))
      events.emit('load', { key, call: flight.call, flight: flight.id, background, leased })
    const load = this.#makeLoad(replaced, { background, leased })
    this.#load = load
    if (batch === undefined) this.#startTimeout(now)
    else batch.onLoad(load, () => this.#startTimeoutUnlessStopped(flight))
    this.#loader = this.#callLoader(scope, load)
    return this.#ending.promise
  }

  /**
   * Starts `loadTimeout` and the measurement of `took`. For a key of a batch that is when the shared loader
   * is called: the load must not pay for the reads of other keys.
   */
  #startTimeout(now: number): void {
    this.#beganAt = now
    this.#cancelTimeout = this.#services.runtime.schedule(() => this.#timeOut(), this.#call.settings.loadTimeout)
  }

  async #callLoader(scope: LoadScope, load: Load<never>): Promise<void> {
    const { loader } = this.#call
    let result: LoadResult
    try {
      // Resolved inside the scope: a lazy thenable begins its work by that, which belongs to the load.
      const value = await runInLoad(scope, () => Promise.resolve(loader(load)))
      result = value === HANDED_OVER ? HANDED_OVER_RESULT : { kind: 'value', value }
    } catch (error) {
      result = { kind: 'error', error }
    }
    this.#loader = undefined
    this.#end(result)
  }

  #startTimeoutUnlessStopped({ stopReason }: Flight): boolean {
    if (stopReason === undefined) this.#startTimeout(this.#services.runtime.elapsed())
    else this.#end({ kind: 'abandoned', why: stopReason })
    return stopReason === undefined
  }

  #timeOut(): void {
    const error = new LoadTimeoutError(this.#call.storedKey, this.#call.settings.loadTimeout)
    this.#timedOut = true
    // First, so that the loader may still decide about the key.
    this.requestStop(error)
    this.#end({ kind: 'error', error })
  }

  /** Only the first end counts. */
  #end(result: LoadResult): void {
    if (this.#ended) return
    this.#ended = true
    const { runtime, activity } = this.#services
    if (this.#scope !== undefined) closeLoadScope(this.#scope)
    activity.loading -= 1
    if (this.#load !== undefined) this.#call.batch?.onLoadEnd(this.#load)
    this.#cancelTimeout()
    const took = this.#beganAt === undefined ? 0 : runtime.elapsed() - this.#beganAt
    // Before the store is asked to end the lease: that step needs no permit. An error may have been fast for
    // any reason.
    this.#permit.release(result.kind === 'value' || this.#timedOut ? took : undefined, this.#loader)
    this.#ending.resolve({ result, took })
  }

  #makeLoad(replaced: Entry | undefined, mode: LoadMode): Load<never> {
    const { requestedKey, settings } = this.#call
    const age = replaced === undefined ? 0 : ageOf(replaced, this.#services.runtime.now())
    const stale = replaced === undefined ? undefined : new StaleValue(replaced, age, settings)
    return new LoaderArgument(requestedKey, stale, mode, this)
  }

  signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#stopped !== undefined) this.#abort.abort(this.#stopped.reason)
    }
    return this.#abort.signal
  }

  onStop(listener: StopListener): void {
    if (this.#stopped !== undefined) listener(this.#stopped.reason)
    else (this.#stopListeners ??= []).push(listener)
  }

  keep(options: KeepOptions): void {
    if (!this.#ended) this.#settings = withKeepOptions(this.#settings, options)
  }

  uncacheable(options?: UncacheableOptions): void {
    if (this.#ended) return
    const parsed = checkOptions('load.uncacheable', options, uncacheableRules)
    const share = parsed.share !== false
    // An unshareable mark is final: the other callers were released with it.
    this.#mark =
      this.#mark?.share === false ? this.#mark : { for: parsed.for ?? UNCACHEABLE_FOR, share, why: parsed.why }
    if (!this.#mark.share) this.#onUnshareable(this.#mark)
  }
}

export function emitOutcome(
  { events }: EngineServices,
  { key, id: flight }: Flight,
  outcome: Outcome,
  took: number,
  leased: boolean,
): void {
  if (events.hasListeners('outcome')) events.emit('outcome', { key, flight, outcome, took, leased })
}
