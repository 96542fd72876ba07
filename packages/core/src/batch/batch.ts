import type { AdmissionControl, PermitSource, ReleasePermit, SharedWaiter } from '../flight/admission-control.ts'
import type { BatchMember } from '../flight/call.ts'
import { activeLoads } from '../flight/reentrancy.ts'
import { ABSENT, type Loader } from '../load.ts'
import { LoaderCall } from './loader-call.ts'
import type { ManyLoader } from './many-loader.ts'

/**
 * Combines the loads of many keys into loader calls. Each key is a call of its own; those that lead at the same time share a loader call.
 *
 * A loader call begins as soon as the store has answered for every key that may still lead. It waits for no load, no lease and no permit, so the
 * delay is at most that of the store. A key that leads later, after it followed another leader, is gathered into a later loader call.
 */
export class Batch implements PermitSource {
  readonly #loader: ManyLoader<unknown>
  readonly #admission: AdmissionControl
  readonly #sharedWaiter: SharedWaiter = { waiting: 0 }
  /** The keys for which the store has not answered yet. */
  readonly #undecided: Set<string>
  /** Noted when the batch begins: the loader is called from inside the load of one of its keys. */
  readonly #enclosing = activeLoads()
  #gathering: LoaderCall

  constructor(keys: readonly string[], loader: ManyLoader<unknown>, admission: AdmissionControl) {
    this.#undecided = new Set(keys)
    this.#loader = loader
    this.#admission = admission
    this.#gathering = this.#newLoaderCall()
  }

  memberOf(key: string): BatchMember {
    return { sharedWaiter: this.#sharedWaiter, permits: this, onOtherLoad: () => this.markDecided(key) }
  }

  /** The loader of one of the keys. */
  loaderOf(key: string): Loader<unknown, never> {
    return async (load) => {
      const loaderCall = this.#gathering
      loaderCall.add(key, load)
      this.markDecided(key)
      const values = await loaderCall.values
      return values.has(key) ? values.get(key) : ABSENT
    }
  }

  /** The key leads, is decided by another caller's load, or has its result: no loader call waits for it. */
  markDecided(key: string): void {
    this.#undecided.delete(key)
    this.#startIfReady()
  }

  tryAcquirePermit(always?: boolean): ReleasePermit | undefined {
    return this.#gathering.permit.tryAcquirePermit(always)
  }

  queueForPermit(onPermit: (permit: ReleasePermit) => void): () => void {
    return this.#gathering.permit.queueForPermit(onPermit)
  }

  #newLoaderCall(): LoaderCall {
    return new LoaderCall(this.#admission, () => this.#startIfReady())
  }

  #startIfReady(): void {
    const loaderCall = this.#gathering
    if (this.#undecided.size > 0 || !loaderCall.ready) return
    this.#gathering = this.#newLoaderCall()
    void loaderCall.run(this.#loader, this.#enclosing)
  }
}
