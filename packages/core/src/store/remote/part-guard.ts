import { queueMicrotask, type Runtime } from '../../runtime/runtime.ts'
import type { Away, Done } from '../answers.ts'
import type { StorePart } from '../store.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import type { Deadline, StepObserver, StepTerms, TimedStep } from './deadline.ts'
import { type Lane, Bulkhead } from './bulkhead.ts'

/** The terms of a step that may have to wait for its turn. */
export interface QueuedTerms extends StepTerms {
  /** Default: `step`. */
  readonly lane?: Lane
}

export interface PartGuardSetup {
  /** Resolves when the first steps may be sent; undefined once they are sent at once. */
  readonly starting: () => Promise<unknown> | undefined
  readonly runtime: Runtime
  readonly deadline: Deadline
  /** The time limit of a step, ms. */
  readonly timeout: number
  /** The longest wait of a step for its turn, ms. */
  readonly patience: number
  /**
   * Called when steps are not sent any more, with the last error, or are sent again. `part` is undefined for
   * a store that is one part.
   */
  readonly onChange: (kind: 'away' | 'back', part: string | undefined, cause: unknown) => void
}

/** Guards one part of a store: how many steps are in flight to it, and whether it is sent any. */
export class PartGuard {
  readonly #breaker: CircuitBreaker
  readonly #bulkhead: Bulkhead
  readonly #deadline: Deadline
  readonly #starting: PartGuardSetup['starting']
  readonly #onChange: (kind: 'away' | 'back', cause: unknown) => void
  /**
   * The answer of every step while the breaker is open, unless its pings tell why. Made once: an error with
   * its stack costs more than the answer.
   */
  #whileOpen: Away
  /** True since a step was not sent for want of a connection. */
  #disconnected = false
  #told: 'away' | 'back' = 'back'
  readonly #ping: () => Promise<Done>
  readonly #readTerms: StepTerms
  /**
   * Of a step that two parts answer: which of them was silent is unknown, so it tells the breaker nothing.
   */
  readonly #placeOnly: StepObserver

  constructor(part: StorePart, { runtime, deadline, timeout, patience, starting, onChange }: PartGuardSetup) {
    const name = part.name === '' ? undefined : part.name
    const silent = name === undefined ? 'The store' : `The node ${name}`
    const whileOpen: Away = { kind: 'away', why: 'breaker', cause: new Error(`${silent} has stopped answering`) }
    this.#deadline = deadline
    this.#starting = starting
    this.#onChange = (kind, cause) => onChange(kind, name, cause)
    this.#ping = () => part.ping()
    this.#whileOpen = whileOpen
    this.#bulkhead = new Bulkhead(runtime, patience)
    this.#breaker = new CircuitBreaker(
      runtime,
      timeout,
      () => this.#pingWhileOpen(),
      (state) => {
        this.#whileOpen = whileOpen
        this.#disconnected = false
        if (state === 'away') this.#bulkhead.refuseAll(whileOpen)
        this.#tell(whileOpen.cause)
      },
    )
    // Later: steps that time out together open the breaker before another one is sent in their place.
    const leaveLater = (): void => queueMicrotask(() => this.#bulkhead.leave(1))
    const leave = (took: number): void => this.#bulkhead.leave(took)
    this.#placeOnly = { answered: leave, timedOut: leaveLater, disconnected: leave }
    const observer: StepObserver = {
      answered: (took) => {
        this.#breaker.answered()
        if (this.#disconnected) this.#setDisconnected(false)
        this.#bulkhead.leave(took)
      },
      disconnected: (took, { cause }) => {
        this.#breaker.answered()
        this.#setDisconnected(true, cause)
        this.#bulkhead.leave(took)
      },
      timedOut: () => {
        this.#breaker.timedOut()
        leaveLater()
      },
    }
    this.#readTerms = { observer }
  }

  /** The answer of every step for now; undefined while the part is sent steps. */
  get refusal(): Away | undefined {
    return this.#breaker.open ? this.#whileOpen : undefined
  }

  /** True when some step has waited for its turn since that moment. */
  waitedSince(moment: number): boolean {
    return this.#bulkhead.waitedSince(moment)
  }

  /**
   * Calls `send`, at once or in its turn, with the function that receives the answer. `spent`: as in
   * `StepTerms`. No promise: a hit would pay for it.
   */
  read<T extends { readonly kind: string }>(
    send: (onAnswer: (answer: T | Away) => void) => void,
    onAnswer: (answer: T | Away) => void,
    spent: number,
  ): void {
    if (this.#breaker.open) onAnswer(this.#whileOpen)
    else if (this.#bulkhead.tryEnter()) this.#sendRead(send, onAnswer, spent)
    else this.#bulkhead.wait('read', () => this.#sendRead(send, onAnswer, spent), onAnswer)
  }

  /** `other`: a second part that the step needs. */
  run<T extends { readonly kind: string }>(
    step: TimedStep<T>,
    terms: QueuedTerms = {},
    other: PartGuard = this,
  ): Promise<T | Away> {
    const refusal = this.refusal ?? other.refusal
    if (refusal !== undefined) return Promise.resolve(refusal)
    const observer = other === this ? this.#readTerms.observer : this.#placeOnly
    const send = (): Promise<T | Away> => {
      const starting = this.#starting()
      const started: TimedStep<T> = starting === undefined ? step : (isOver) => starting.then(() => step(isOver))
      return this.#deadline.within(started, { ...terms, observer })
    }
    if (this.#bulkhead.tryEnter()) return send()
    return new Promise((resolve) => this.#bulkhead.wait(terms.lane ?? 'step', () => resolve(send()), resolve))
  }

  /** Pings an away part now instead of later. */
  probe(): void {
    this.#breaker.probe()
    if (this.#disconnected) void this.run(this.#ping)
  }

  end(): void {
    this.#breaker.end()
  }

  #sendRead<T extends { readonly kind: string }>(
    send: (onAnswer: (answer: T | Away) => void) => void,
    onAnswer: (answer: T | Away) => void,
    spent: number,
  ): void {
    const answered = this.#deadline.withCallback(
      onAnswer,
      spent === 0 ? this.#readTerms : { ...this.#readTerms, spent },
    )
    const starting = this.#starting()
    if (starting === undefined) send(answered)
    else void starting.then(() => send(answered))
  }

  #setDisconnected(disconnected: boolean, cause?: unknown): void {
    this.#disconnected = disconnected
    this.#tell(cause)
  }

  #tell(cause: unknown): void {
    const state = this.#breaker.open || this.#disconnected ? 'away' : 'back'
    if (state === this.#told) return
    this.#told = state
    this.#onChange(state, state === 'away' ? cause : undefined)
  }

  /**
   * The server that fell silent may be another one when it is back: what the ping meets is why the steps are
   * not sent.
   */
  async #pingWhileOpen(): Promise<Done> {
    const answer = await this.#ping()
    if (answer.kind === 'away') this.#whileOpen = { kind: 'away', why: 'breaker', cause: answer.cause }
    return answer
  }
}
