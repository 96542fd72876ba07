import type { AdmissionControl, ReleasePermit } from '../flight/admission-control.ts'
import type { ActiveLoad } from '../flight/reentrancy.ts'

/** A place among `maxLoads`, from the wait for it to its release. It may be acquired again after a release. */
export class LoadPermit {
  readonly #admission: AdmissionControl
  #release: ReleasePermit | undefined
  #abandon: (() => void) | undefined

  constructor(admission: AdmissionControl) {
    this.#admission = admission
  }

  get held(): boolean {
    return this.#release !== undefined
  }

  /** Acquires a free place at once; false when none is free. `enclosing`: the loads that the new load runs inside of. */
  tryAcquire(enclosing?: readonly ActiveLoad[]): boolean {
    this.#release ??= this.#admission.tryAcquirePermit(enclosing)
    return this.held
  }

  /** Queues, before it returns, for the next free place. Resolves to false when `abandon` comes first. */
  acquire(): Promise<boolean> {
    return new Promise((resolve) => {
      const leaveQueue = this.#admission.queueForPermit((release) => {
        this.#abandon = undefined
        this.#release = release
        resolve(true)
      })
      this.#abandon = () => {
        leaveQueue()
        resolve(false)
      }
    })
  }

  /** Leaves the queue. */
  abandon(): void {
    this.#abandon?.()
  }

  /** Gives the place back, if one is held. */
  release(): void {
    this.#release?.()
    this.#release = undefined
  }
}
