import { ABSENT } from '../load.ts'
import type { Engine } from '../flight/engine.ts'
import type { Call } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { type Failure, LeaseLostError } from '../errors.ts'
import type { Flight, FlightResult } from '../flight/flight.ts'
import { keepAlive } from './keep-alive.ts'
import type { Lease, Commit, Ending, Released } from '../store/store.ts'
import type { Outcome } from '../load.ts'
import type { CancelTimer } from '../runtime.ts'
import { type LoadEnd, LoadRun, type UncacheableMark } from './load-run.ts'
import type { Settings } from '../options/settings.ts'
import { newEntry } from './new-entry.ts'

/** How long a value that cannot be kept is loaded by everybody alone, ms. */
const UNKEEPABLE_FOR = 10_000

/** Runs the load of a flight under its lease, and offers the result to the store. Never rejects. */
export async function lead(
  flight: Flight,
  call: Call,
  lease: Lease,
  stale: Entry | undefined,
  engine: Engine,
): Promise<void> {
  await new LeasedLoad(flight, call, lease, engine).run(stale)
}

/** Runs the load of a flight without a lease: its result is given to the callers and not stored. Never rejects. */
export async function loadUnleased(
  flight: Flight,
  call: Call,
  why: 'unleased' | 'away',
  stale: Entry | undefined,
  engine: Engine,
): Promise<void> {
  const load = new LoadRun(call, engine)
  load.onUnshareable = () => flight.release('alone')
  const { ended, took } = await runLoad(load, flight, call, false, stale, engine)
  const absent = ended.kind === 'value' && ended.value === ABSENT
  const outcome = absent ? settleAbsent(flight) : unleasedOutcome(ended, why)
  const result = unleasedResult(ended, call.settings)
  flight.settleEarly(result)
  // Nothing proves that no invalidation came between the load's begin and a late caller. While the store is away nothing can, for anybody.
  flight.settle(result.kind === 'loaded' && why === 'unleased' ? { kind: 'again' } : result, outcome)
  emitOutcome(engine, call.key, outcome, took)
}

function settleAbsent(flight: Flight): Outcome {
  const outcome: Outcome = { kind: 'abandoned', why: 'absent' }
  flight.release('again')
  flight.settle({ kind: 'loaded', value: ABSENT, freshFor: 0 }, outcome)
  return outcome
}

function unleasedOutcome(ended: LoadEnd, why: 'unleased' | 'away'): Outcome {
  if (ended.kind === 'error') return { kind: 'failed', error: ended.error, cooldown: 0 }
  return { kind: 'abandoned', why: ended.kind === 'cut' ? 'closed' : why }
}

function unleasedResult(ended: LoadEnd, settings: Settings): FlightResult {
  if (ended.kind === 'value') return { kind: 'loaded', value: ended.value, freshFor: 0 }
  return { kind: 'failed', error: ended.error, failure: ended.kind === 'error' && isFailure(settings, ended.error) }
}

function emitOutcome({ events }: Engine, key: string, outcome: Outcome, took: number): void {
  if (events.hasListeners('outcome')) events.emit('outcome', { key, outcome, took })
}

async function runLoad(
  load: LoadRun,
  flight: Flight,
  call: Call,
  leased: boolean,
  stale: Entry | undefined,
  { events, runtime }: Engine,
): Promise<{ readonly ended: LoadEnd; readonly took: number }> {
  flight.beginLoad()
  flight.cut = (error) => load.cut(error)
  const { background } = flight
  if (events.hasListeners('load')) events.emit('load', { key: call.key, background, leased })
  const begun = runtime.now()
  const ended = await load.run(stale, { background, leased })
  return { ended, took: runtime.now() - begun }
}

class LeasedLoad {
  readonly #flight: Flight
  readonly #call: Call
  readonly #lease: Lease
  readonly #engine: Engine
  readonly #load: LoadRun
  #releasing: Promise<Released> | undefined
  #stopRenewals: CancelTimer = () => undefined

  constructor(flight: Flight, call: Call, lease: Lease, engine: Engine) {
    this.#flight = flight
    this.#call = call
    this.#lease = lease
    this.#engine = engine
    this.#load = new LoadRun(call, engine)
    this.#load.onUnshareable = (mark) => this.#unshareable(mark)
  }

  async run(stale: Entry | undefined): Promise<void> {
    const { loadTimeout, leaseDuration, maxHold } = this.#call.settings
    const hold = { duration: leaseDuration, maxHold: maxHold ?? loadTimeout + leaseDuration }
    this.#stopRenewals = keepAlive(this.#lease, hold, this.#engine, () => this.#leaseLost())
    const { ended, took } = await runLoad(this.#load, this.#flight, this.#call, true, stale, this.#engine)
    this.#stopRenewals()
    const outcome = await this.#conclude(ended, took)
    emitOutcome(this.#engine, this.#call.key, outcome, took)
  }

  #conclude(ended: LoadEnd, took: number): Promise<Outcome> {
    if (ended.kind !== 'value') return this.#fail(ended.error, ended.kind)
    return ended.value === ABSENT ? this.#absent() : this.#commit(ended.value, took)
  }

  /** The batch brought nothing for this key: whoever else wants it asks for it anew. */
  async #absent(): Promise<Outcome> {
    const releasing = this.#release({ kind: 'handover' })
    const outcome = settleAbsent(this.#flight)
    await releasing
    return outcome
  }

  #leaseLost(): void {
    // Whoever waits for this load is innocent of an invalidation: only a load that nobody wants is stopped.
    if (this.#flight.callers === 0) this.#load.abort(new LeaseLostError(this.#call.key))
  }

  /** All others are released at once, here and elsewhere: the result will never be theirs, so they must not wait for it. */
  #unshareable(mark: UncacheableMark): void {
    this.#flight.release('alone')
    // The lease ends here, by our own word: its next renewal would only hear that it is gone.
    this.#stopRenewals()
    this.#releasing ??= this.#release({ kind: 'uncacheable', ...mark })
  }

  async #commit(value: unknown, took: number): Promise<Outcome> {
    const { mark } = this.#load
    if (mark !== undefined) return this.#endUncacheable(value, mark)
    const { store, runtime } = this.#engine
    const entry = newEntry(value, took, this.#load.settings, runtime.random())
    this.#flight.beginCommit()
    const committing = store.commit(this.#lease, entry, this.#call.settings.codec)
    const result: FlightResult = { kind: 'loaded', value, freshFor: entry.ttl }
    this.#flight.settleEarly(result)
    return this.#settleCommit(await committing, result, entry.ttl)
  }

  async #settleCommit(answer: Commit, result: FlightResult, ttl: number): Promise<Outcome> {
    const { events } = this.#engine
    const { key } = this.#call
    switch (answer.kind) {
      case 'stored':
        if (events.hasListeners('commit')) events.emit('commit', { key, ttl })
        return this.#settleFlight(result, { kind: 'committed' })
      case 'refused':
        if (events.hasListeners('refused')) events.emit('refused', { key, why: answer.why })
        return this.#settleFlight({ kind: 'again' }, { kind: 'refused', why: answer.why })
      case 'unkeepable': {
        if (events.hasListeners(answer.why)) events.emit(answer.why, { key, error: answer.cause })
        const mark = { for: UNKEEPABLE_FOR, share: true }
        const released = await this.#release({ kind: 'uncacheable', ...mark })
        return this.#settleFlight(resultForLateJoiners(released, result), { kind: 'uncacheable', ...mark })
      }
      case 'away':
        this.#away('commit', answer.cause)
        return this.#settleFlight(result, { kind: 'abandoned', why: 'away' })
    }
  }

  async #endUncacheable(value: unknown, mark: UncacheableMark): Promise<Outcome> {
    this.#flight.beginCommit()
    const releasing = this.#releasing ?? this.#release({ kind: 'uncacheable', ...mark })
    const result: FlightResult = { kind: 'loaded', value, freshFor: 0 }
    this.#flight.settleEarly(result)
    return this.#settleFlight(resultForLateJoiners(await releasing, result), { kind: 'uncacheable', ...mark })
  }

  async #fail(error: unknown, kind: 'error' | 'cut'): Promise<Outcome> {
    const { cooldown: policy, events } = this.#engine
    const { key, settings } = this.#call
    const failure = kind === 'error' && isFailure(settings, error)
    const attempts = this.#lease.attempts + 1
    const cooldown = failure ? policy.after(attempts, settings.cooldown) : 0
    if (failure && events.hasListeners('load-failed')) events.emit('load-failed', { key, error, cooldown })
    this.#flight.beginCommit()
    // The owner's own abort is no answer for those who joined it: they look again.
    if (kind === 'error' && isOwnAbort(settings, error)) this.#flight.release('again')
    const ending: Ending = failure
      ? { kind: 'failed', failure: describeError(error, settings.shareErrorMessages), cooldown, attempts }
      : { kind: 'handover' }
    const releasing = this.#releasing ?? this.#release(ending)
    const outcome: Outcome = kind === 'cut' ? { kind: 'abandoned', why: 'closed' } : { kind: 'failed', error, cooldown }
    this.#settleFlight({ kind: 'failed', error, failure }, outcome)
    await releasing
    return outcome
  }

  async #release(ending: Ending): Promise<Released> {
    const answer = await this.#engine.store.release(this.#lease, ending)
    if (answer.kind === 'away') this.#away('release', answer.cause)
    return answer
  }

  #settleFlight(result: FlightResult, outcome: Outcome): Outcome {
    this.#flight.settle(result, outcome)
    return outcome
  }

  #away(step: string, error: unknown): void {
    const { events } = this.#engine
    if (events.hasListeners('away')) events.emit('away', { key: this.#call.key, step, error })
  }
}

/** What callers get who joined late: a lease that was void by its end may have been voided by an invalidation before they came. */
function resultForLateJoiners(released: Released, result: FlightResult): FlightResult {
  return released.kind === 'refused' ? { kind: 'again' } : result
}

/** A predicate that throws itself says nothing of value: the error then counts as a failure. */
function isFailure(settings: Settings, error: unknown): boolean {
  if (isOwnAbort(settings, error)) return false
  try {
    return settings.isFailure(error)
  } catch {
    return true
  }
}

/** Whether a loader that heeds its caller's own signal was stopped by it: no word about the source. */
function isOwnAbort({ signal }: Settings, error: unknown): boolean {
  return signal?.aborted === true && (error === signal.reason || textOf(error, 'name') === 'AbortError')
}

/** What of an error may leave the process. It is the user's own object: it may be of another realm, and its getters may throw. */
function describeError(error: unknown, shareMessage: boolean): Failure {
  const name = textOf(error, 'name') ?? typeof error
  return { name, code: textOf(error, 'code'), message: shareMessage ? textOf(error, 'message') : undefined }
}

function textOf(error: unknown, field: 'name' | 'code' | 'message'): string | undefined {
  try {
    const value = (error as Readonly<Record<string, unknown>> | null | undefined)?.[field]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  } catch {
    return undefined
  }
}
