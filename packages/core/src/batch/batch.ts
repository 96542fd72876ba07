import type { SharedWaiter } from '../flight/admission-control.ts'
import type { CallBatch } from '../flight/call.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { PermitSource, QueuedLoad, ReleasePermit } from '../flight/permits.ts'
import type { Awaiters } from '../flight/awaited.ts'
import { currentLoadScope } from '../flight/reentrancy.ts'
import { ABSENT, type Load, type Loader } from '../load.ts'
import { LoaderCall } from './loader-call.ts'
import type { ManyLoader } from './many-loader.ts'

/**
 * Combines the loads of many keys into loader calls. Each key is a separate call; those that lead together
 * share a loader call.
 *
 * A loader call begins when every key was read, and every key that asks for its lease has the store's answer.
 * It waits for nothing else: a key that follows another leader joins a later loader call if it leads in
 * the end.
 */
export class Batch implements CallBatch, PermitSource {
  readonly sharedWaiter: SharedWaiter = { waiting: 0 }
  readonly #loader: ManyLoader<unknown>
  readonly #services: EngineServices
  readonly #permits: PermitSource
  /** The scope around the batch, read at its start: later the current one is that of one of its keys. */
  readonly #outer = currentLoadScope()
  readonly awaiters: Awaiters | undefined
  /** The keys whose first read the store has not answered. */
  readonly #unread: Set<string>
  /** By running load: what to call when its loader call begins. */
  readonly #onLoaderCall = new Map<Load<never>, () => boolean>()
  #nextCall: LoaderCall

  /** `awaiters`: those of the call that the keys are of. */
  constructor(
    keys: readonly string[],
    loader: ManyLoader<unknown>,
    services: EngineServices,
    permits: PermitSource,
    awaiters: Awaiters | undefined,
  ) {
    this.awaiters = awaiters
    this.#unread = new Set(keys)
    this.#loader = loader
    this.#services = services
    this.#permits = permits
    this.#nextCall = this.#newLoaderCall()
  }

  /** The loader of one of the keys. */
  loaderOf(key: string): Loader<unknown, never> {
    return async (load) => {
      const loaderCall = this.#nextCall
      loaderCall.add(load)
      // A load may begin without a read of the store.
      this.#unread.delete(key)
      this.#startIfReady()
      const values = await loaderCall.values
      return values.has(key) ? values.get(key) : ABSENT
    }
  }

  onRead(key: string): void {
    if (this.#unread.delete(key)) this.#startIfReady()
  }

  onLoad(load: Load<never>, onLoaderCall: () => boolean): void {
    this.#onLoaderCall.set(load, onLoaderCall)
  }

  /** A load that `close` ends before its loader call begins is not one of that call. */
  onLoadEnd(load: Load<never>): void {
    this.#onLoaderCall.delete(load)
    this.#nextCall.remove(load)
  }

  get permitAvailable(): boolean {
    return this.#nextCall.permit.permitAvailable
  }

  tryAcquirePermit(force?: boolean): ReleasePermit | undefined {
    return this.#nextCall.permit.tryAcquirePermit(force)
  }

  queueForPermit(load: QueuedLoad): () => void {
    return this.#nextCall.permit.queueForPermit(load)
  }

  #newLoaderCall(): LoaderCall {
    return new LoaderCall(this.#services, this.#permits, () => this.#startIfReady())
  }

  #startIfReady(): void {
    const loaderCall = this.#nextCall
    if (this.#unread.size > 0 || !loaderCall.ready) return
    for (const load of loaderCall.loads) if (this.#onLoaderCall.get(load)?.() === false) loaderCall.remove(load)
    // A load that ended has given its share of the permit back, and the loader call may have begun by that.
    if (loaderCall.loads.size === 0 || loaderCall !== this.#nextCall) return
    this.#nextCall = this.#newLoaderCall()
    void loaderCall.run(this.#loader, this.#outer)
  }
}
