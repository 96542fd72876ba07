import type { Engine } from './engine.ts'
import type { Flight, Landing } from './flight.ts'
import type { CancelTimer, Runtime } from './runtime.ts'

/** A caller ends its own wait; the flight goes on for whoever is left. */
export interface GaveUp {
  readonly kind: 'gave-up'
  readonly why: 'soft-timeout' | 'wait-timeout'
}

export interface Patience {
  /** How long to wait while a stale value is in hand, ms. */
  readonly soft: number
  /** How much of the call's `waitTimeout` is left, ms; it runs only while the flight follows. */
  readonly budget: number
  readonly signal: AbortSignal | undefined
}

/**
 * One caller's wait for a flight; `over` is called when it ends, however it does.
 *
 * @throws the reason of the caller's own signal.
 */
export function waitFor(
  flight: Flight,
  seat: Promise<Landing>,
  patience: Patience,
  { runtime }: Engine,
  over: () => void,
): Promise<Landing | GaveUp> {
  return new Promise((resolve, reject) => {
    new Wait(flight, patience, runtime, over, resolve, reject).begin(seat)
  })
}

/** A herd is made of these: one promise each, and a timer only where there is something to wait for. */
class Wait {
  readonly #flight: Flight
  readonly #patience: Patience
  readonly #runtime: Runtime
  readonly #onOver: () => void
  readonly #resolve: (end: Landing | GaveUp) => void
  readonly #reject: (reason: unknown) => void
  /** How long the flight had followed when the wait began: its time as a leader costs no budget. */
  readonly #before: number
  #cancelSoft: CancelTimer | undefined
  #cancelLook: CancelTimer | undefined
  #unwatch: (() => void) | undefined
  #over = false

  constructor(
    flight: Flight,
    patience: Patience,
    runtime: Runtime,
    over: () => void,
    resolve: (end: Landing | GaveUp) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#flight = flight
    this.#patience = patience
    this.#runtime = runtime
    this.#onOver = over
    this.#resolve = resolve
    this.#reject = reject
    this.#before = flight.followed(runtime.now())
  }

  begin(seat: Promise<Landing>): void {
    const { soft, signal } = this.#patience
    void seat.then((landing) => this.#end(landing))
    if (soft !== Infinity) this.#cancelSoft = this.#runtime.schedule(() => this.#giveUp('soft-timeout'), soft)
    this.#unwatch = this.#flight.watchFollow(() => this.#look())
    signal?.addEventListener('abort', this.#abort)
    if (signal?.aborted === true) this.#abort()
    else this.#look()
  }

  /** Gives up once the flight has followed for the whole budget; looks again when that may be. */
  #look(): void {
    const { budget } = this.#patience
    this.#cancelLook?.()
    // A timer runs only while the flight follows; when it does so again, it is looked at again.
    this.#cancelLook = undefined
    if (!this.#flight.following) return
    const left = budget - (this.#flight.followed(this.#runtime.now()) - this.#before)
    if (left <= 0) this.#giveUp('wait-timeout')
    // Told again before that, it needs no timer yet: as a rule no caller of a herd ever sets one.
    else if (left <= this.#flight.tellsWithin) this.#cancelLook = this.#runtime.schedule(() => this.#look(), left)
  }

  readonly #abort = (): void => {
    if (this.#leave()) this.#reject(this.#patience.signal?.reason)
  }

  #giveUp(why: GaveUp['why']): void {
    // Before it leaves: a load that nobody wants may be stopped.
    if (why === 'soft-timeout' && !this.#over) this.#flight.want()
    this.#end({ kind: 'gave-up', why })
  }

  #end(end: Landing | GaveUp): void {
    if (this.#leave()) this.#resolve(end)
  }

  /** Once: whether this was the end. */
  #leave(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#cancelSoft?.()
    this.#cancelLook?.()
    this.#unwatch?.()
    this.#patience.signal?.removeEventListener('abort', this.#abort)
    this.#flight.leave()
    this.#onOver()
    return true
  }
}
