import { throwIfReentrant, activeLoads, type ActiveLoad, recordWait } from './reentrancy.ts'
import type { AdmissionLimits } from '../options/settings.ts'

/** Gives a permit back; further calls do nothing. */
export type ReleasePermit = () => void

/** Grants the permits of loads. */
export interface PermitSource {
  /** Grants a free permit, or undefined when none is free. `enclosing`: the loads that the new load runs inside of. Default: those of the caller. */
  tryAcquirePermit(enclosing?: readonly ActiveLoad[]): ReleasePermit | undefined
  /** Calls `onPermit` with the next free permit, first come, first served. Returns the function that leaves the queue. */
  queueForPermit(onPermit: (permit: ReleasePermit) => void): () => void
}

/** Several calls that `maxWaiters` counts as one waiter. */
export interface SharedWaiter {
  waiting: number
}

/** Enforces `maxWaiters`, `maxWaitersPerKey` and `maxLoads` in this process, and rejects a load that would wait for itself. */
export class AdmissionControl implements PermitSource {
  readonly #limits: AdmissionLimits
  /** First in, first out. */
  readonly #queue = new Set<(permit: ReleasePermit) => void>()
  #loads = 0
  #waiters = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** Identifies a load of `key` in this cache. */
  activeLoad(key: string): ActiveLoad {
    return { owner: this, key }
  }

  /** True when one of the `enclosing` loads belongs to this cache. */
  isInsideLoad(enclosing: readonly ActiveLoad[] = activeLoads()): boolean {
    return enclosing.some(({ owner }) => owner === this)
  }

  /** @throws ReentrantLoadError when waiting for `key` would never end. */
  checkReentrancy(key: string): void {
    throwIfReentrant(this, key)
  }

  /**
   * Counts one more call that waits for `key`, for which `waiting` calls wait already. Returns the function that stops counting it, or
   * undefined when a limit is reached.
   */
  admitWaiter(key: string, waiting: number, sharedWaiter?: SharedWaiter): (() => void) | undefined {
    const alreadyCounted = sharedWaiter !== undefined && sharedWaiter.waiting > 0
    if ((!alreadyCounted && this.#waiters >= this.#limits.maxWaiters) || waiting >= this.#limits.maxWaitersPerKey)
      return undefined
    if (!alreadyCounted) this.#waiters += 1
    const removeWait = recordWait(this, key)
    // The usual case: all callers of a herd share this one function.
    if (sharedWaiter === undefined && removeWait === undefined) return this.#removeWaiter
    if (sharedWaiter !== undefined) sharedWaiter.waiting += 1
    return () => {
      if (sharedWaiter !== undefined) sharedWaiter.waiting -= 1
      if (sharedWaiter === undefined || sharedWaiter.waiting === 0) this.#removeWaiter()
      removeWait?.()
    }
  }

  readonly #removeWaiter = (): void => {
    this.#waiters -= 1
  }

  /** True while fewer than `maxLoads` loads run. */
  get permitAvailable(): boolean {
    return this.#loads < this.#limits.maxLoads
  }

  /** A load inside a load of this cache always gets a permit: the outer load could not end without it. */
  tryAcquirePermit(enclosing: readonly ActiveLoad[] = activeLoads()): ReleasePermit | undefined {
    return this.isInsideLoad(enclosing) || this.permitAvailable ? this.#grantPermit() : undefined
  }

  queueForPermit(onPermit: (permit: ReleasePermit) => void): () => void {
    this.#queue.add(onPermit)
    return () => {
      this.#queue.delete(onPermit)
    }
  }

  #grantPermit(): ReleasePermit {
    this.#loads += 1
    let released = false
    return () => {
      if (released) return
      released = true
      this.#loads -= 1
      this.#grantNext()
    }
  }

  #grantNext(): void {
    const [first] = this.#queue
    if (first === undefined || this.#loads >= this.#limits.maxLoads) return
    this.#queue.delete(first)
    first(this.#grantPermit())
  }
}
