import type { AdmissionControl, PermitSource, ReleasePermit } from '../flight/admission-control.ts'
import type { ActiveLoad } from '../flight/reentrancy.ts'

/** The permits of a batch. Until `endSharing`, its keys share one; from then on each key acquires its own. */
export class BatchPermits implements PermitSource {
  readonly #admission: AdmissionControl
  readonly #onShareReleased: () => void
  readonly #queue = new Set<(permit: ReleasePermit) => void>()
  #sharing = true
  #shares = 0
  #permit: ReleasePermit | undefined
  #leaveQueue: (() => void) | undefined

  constructor(admission: AdmissionControl, onShareReleased: () => void) {
    this.#admission = admission
    this.#onShareReleased = onShareReleased
  }

  /** The number of keys that hold the shared permit; 0 after `endSharing`. */
  get shares(): number {
    return this.#sharing ? this.#shares : 0
  }

  /** The loader call of the keys that hold the shared permit begins: a later one needs a permit of its own. */
  endSharing(): void {
    this.#sharing = false
  }

  tryAcquirePermit(enclosing?: readonly ActiveLoad[]): ReleasePermit | undefined {
    if (!this.#sharing) return this.#admission.tryAcquirePermit(enclosing)
    this.#permit ??= this.#admission.tryAcquirePermit(enclosing)
    return this.#permit === undefined ? undefined : this.#newShare()
  }

  queueForPermit(onPermit: (permit: ReleasePermit) => void): () => void {
    if (!this.#sharing) return this.#admission.queueForPermit(onPermit)
    this.#queue.add(onPermit)
    this.#leaveQueue ??= this.#admission.queueForPermit((permit) => this.#grantToAll(permit))
    return () => {
      this.#queue.delete(onPermit)
      if (this.#queue.size === 0) this.#stopQueueing()
    }
  }

  #grantToAll(permit: ReleasePermit): void {
    this.#leaveQueue = undefined
    this.#permit = permit
    const waiting = [...this.#queue]
    this.#queue.clear()
    for (const onPermit of waiting) onPermit(this.#newShare())
  }

  #stopQueueing(): void {
    this.#leaveQueue?.()
    this.#leaveQueue = undefined
  }

  #newShare(): ReleasePermit {
    this.#shares += 1
    let released = false
    return () => {
      if (released) return
      released = true
      this.#shares -= 1
      if (this.#shares === 0) this.#releasePermit()
      this.#onShareReleased()
    }
  }

  #releasePermit(): void {
    const release = this.#permit
    this.#permit = undefined
    release?.()
  }
}
