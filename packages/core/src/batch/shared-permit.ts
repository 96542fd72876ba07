import type { PermitSource, QueuedLoad, ReleasePermit } from '../flight/permits.ts'

/**
 * The permit of one loader call. Each key that may join the call holds a share, from before it asks for its
 * lease until its load has ended.
 */
export class SharedPermit implements PermitSource, QueuedLoad {
  readonly #source: PermitSource
  readonly #onShareReleased: () => void
  readonly #queue = new Set<QueuedLoad>()
  #shares = 0
  #permit: ReleasePermit | undefined
  #leaveQueue: (() => void) | undefined

  constructor(source: PermitSource, onShareReleased: () => void) {
    this.#source = source
    this.#onShareReleased = onShareReleased
  }

  /** The number of keys that hold a share. */
  get shares(): number {
    return this.#shares
  }

  get permitAvailable(): boolean {
    return this.#permit !== undefined || this.#source.permitAvailable
  }

  tryAcquirePermit(force?: boolean): ReleasePermit | undefined {
    const permit = this.#permit ?? this.#source.tryAcquirePermit(force)
    if (permit === undefined) return undefined
    this.#permit = permit
    const share = this.#newShare()
    this.#grantToQueue()
    return share
  }

  queueForPermit(load: QueuedLoad): () => void {
    this.#queue.add(load)
    this.#leaveQueue ??= this.#source.queueForPermit(this)
    return () => {
      this.#queue.delete(load)
      if (this.#queue.size === 0) this.#stopQueueing()
    }
  }

  /** The callers of all keys that wait for the loader call. */
  get callers(): number {
    let callers = 0
    for (const load of this.#queue) callers += load.callers
    return callers
  }

  get patience(): number {
    let patience = Infinity
    for (const load of this.#queue) patience = Math.min(patience, load.patience)
    return patience
  }

  refuse(wait: number): void {
    this.#leaveQueue = undefined
    const queued = [...this.#queue]
    this.#queue.clear()
    for (const load of queued) load.refuse(wait)
  }

  onPermit(permit: ReleasePermit): void {
    this.#permit = permit
    this.#grantToQueue()
  }

  #grantToQueue(): void {
    this.#stopQueueing()
    const queued = [...this.#queue]
    this.#queue.clear()
    for (const load of queued) load.onPermit(this.#newShare())
  }

  #stopQueueing(): void {
    this.#leaveQueue?.()
    this.#leaveQueue = undefined
  }

  #newShare(): ReleasePermit {
    this.#shares += 1
    let released = false
    return (took, lingering) => {
      if (released) return
      released = true
      this.#shares -= 1
      if (this.#shares === 0) this.#releasePermit(took, lingering)
      this.#onShareReleased()
    }
  }

  #releasePermit(...end: Parameters<ReleasePermit>): void {
    const release = this.#permit
    this.#permit = undefined
    release?.(...end)
  }
}
