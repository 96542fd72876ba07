import type { CancelTimer, Runtime } from '../runtime/runtime.ts'

/**
 * Whether a cache is paused: by its own process until it resumes, or by an operator, in all processes that
 * share the store, until a moment.
 */
export class Pause {
  /**
   * While it is on, no stored value is served and no load is stored: asked at every call, after every read,
   * and before a commit.
   */
  on: boolean
  readonly #runtime: Runtime
  readonly #enabled: boolean
  readonly #onChange: (pausedFor: number) => void
  #byProcess = false
  /** Defined while an operator has paused all processes. */
  #cancelEnd: CancelTimer | undefined

  /**
   * `enabled` false: it stays on. `onChange` is called when a pause of all processes begins, with the time
   * that it has left, ms; with 0 when it ends.
   */
  constructor(runtime: Runtime, enabled: boolean, onChange: (pausedFor: number) => void) {
    this.#runtime = runtime
    this.#enabled = enabled
    this.#onChange = onChange
    this.on = !enabled
  }

  set byProcess(paused: boolean) {
    this.#byProcess = paused
    this.#update()
  }

  /**
   * All processes are paused for `remaining` ms from now; 0: no more. It ends by itself, also while the store
   * is away.
   */
  pauseAll(remaining: number): void {
    const before = this.#cancelEnd
    before?.()
    this.#cancelEnd = remaining > 0 ? this.#runtime.schedule(() => this.pauseAll(0), remaining) : undefined
    this.#update()
    if ((before === undefined) !== (this.#cancelEnd === undefined)) this.#onChange(remaining)
  }

  /** Its cache has been closed: nothing is told any more. */
  close(): void {
    this.#cancelEnd?.()
  }

  #update(): void {
    this.on = !this.#enabled || this.#byProcess || this.#cancelEnd !== undefined
  }
}
