import type { PermitSource, ReleasePermit } from '../flight/permits.ts'

/** The permit of one loader call. Each key that may join the call holds a share, from before it asks for its lease until its load has ended. */
export class SharedPermit implements PermitSource {
  readonly #source: PermitSource
  readonly #onShareReleased: () => void
  readonly #queue = new Set<(share: ReleasePermit) => void>()
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

  queueForPermit(onShare: (share: ReleasePermit) => void): () => void {
    this.#queue.add(onShare)
    this.#leaveQueue ??= this.#source.queueForPermit((permit) => {
      this.#permit = permit
      this.#grantToQueue()
    })
    return () => {
      this.#queue.delete(onShare)
      if (this.#queue.size === 0) this.#stopQueueing()
    }
  }

  #grantToQueue(): void {
    this.#stopQueueing()
    const queued = [...this.#queue]
    this.#queue.clear()
    for (const onShare of queued) onShare(this.#newShare())
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
