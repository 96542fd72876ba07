import type { AdmissionControl, SharedWaiter } from '../flight/admission-control.ts'
import type { BatchMember } from '../flight/call.ts'
import { Deferred } from '../flight/deferred.ts'
import { type ActiveLoad, activeLoads, leaveLoadScope, newLoadScope, runInLoad } from '../flight/reentrancy.ts'
import { ABSENT, type KeepOptions, type Load, type Loader, type UncacheableOptions } from '../load.ts'
import { storedKey } from '../options/stored-key.ts'
import { BatchPermits } from './batch-permits.ts'

/** Passed to the loader of many keys, which decides through it about each result. */
export interface ManyLoad {
  /** Aborts when every load of the batch must stop. */
  readonly signal: AbortSignal
  /** As `Load.keep`, for one key. */
  keep(key: string, options: KeepOptions): void
  /** As `Load.uncacheable`, for one key. */
  uncacheable(key: string, options?: UncacheableOptions): void
}

/** Loads the values of the keys that are missing. A key that the returned Map leaves out is not stored. */
export type ManyLoader<V> = (
  missing: readonly string[],
  load: ManyLoad,
) => ReadonlyMap<string, V> | Promise<ReadonlyMap<string, V>>

/**
 * Combines the loads of many keys into one loader call. Each key is a call of its own. The loader is called as soon as each
 * key leads, is decided by another caller's load, or has its result. A key that leads later is loaded by a further loader call.
 */
export class Batch {
  readonly #loader: ManyLoader<unknown>
  readonly #admission: AdmissionControl
  readonly #permits: BatchPermits
  readonly #sharedWaiter: SharedWaiter = { waiting: 0 }
  readonly #notReady: Set<string>
  /** The loads around the batch, noted when it begins: its loader is called from inside the load of one of its keys. */
  readonly #enclosing: readonly ActiveLoad[]
  #next: LoaderCall = new LoaderCall()

  constructor(keys: Iterable<string>, loader: ManyLoader<unknown>, admission: AdmissionControl) {
    this.#notReady = new Set(keys)
    this.#loader = loader
    this.#admission = admission
    this.#permits = new BatchPermits(admission, () => this.#startIfReady())
    this.#enclosing = activeLoads()
  }

  memberOf(key: string): BatchMember {
    return { sharedWaiter: this.#sharedWaiter, permits: this.#permits, onOtherLoad: () => this.markReady(key) }
  }

  /** The loader of one of the keys. */
  loaderOf(key: string): Loader<unknown, never> {
    return async (load) => {
      const loaderCall = this.#next
      loaderCall.loads.set(key, load)
      this.markReady(key)
      const values = await loaderCall.values
      return values.has(key) ? values.get(key) : ABSENT
    }
  }

  /** The key leads, is decided by another caller's load, or has its result: the loader call need not wait for it. */
  markReady(key: string): void {
    this.#notReady.delete(key)
    this.#startIfReady()
  }

  #startIfReady(): void {
    const loaderCall = this.#next
    const { size } = loaderCall.loads
    // A key that holds the shared permit, and does not lead yet, may lead soon.
    if (size === 0 || this.#notReady.size > 0 || this.#permits.shares > size) return
    this.#next = new LoaderCall()
    this.#permits.endSharing()
    void this.#run(loaderCall)
  }

  async #run(loaderCall: LoaderCall): Promise<void> {
    const keys = [...loaderCall.loads.keys()]
    const loads = keys.map((key) => this.#admission.activeLoad(storedKey(key)))
    const scope = newLoadScope(this.#enclosing, loads)
    try {
      loaderCall.resolve(checkMap(await runInLoad(scope, () => this.#loader(keys, loaderCall))))
    } catch (error) {
      loaderCall.reject(error)
    } finally {
      leaveLoadScope(scope)
    }
  }
}

function checkMap(values: unknown): ReadonlyMap<string, unknown> {
  const { has, get } = (values ?? {}) as Partial<Record<'has' | 'get', unknown>>
  if (typeof has === 'function' && typeof get === 'function') return values as ReadonlyMap<string, unknown>
  throw new TypeError('The loader of getOrSetMany must return a Map of keys and values')
}

/** One call of the loader of many keys, and the loads that it serves. */
class LoaderCall implements ManyLoad {
  readonly loads = new Map<string, Load<never>>()
  readonly #values = new Deferred<ReadonlyMap<string, unknown>>()
  #abort: AbortController | undefined

  get values(): Promise<ReadonlyMap<string, unknown>> {
    return this.#values.promise
  }

  resolve(values: ReadonlyMap<string, unknown>): void {
    this.#values.resolve(values)
  }

  reject(error: unknown): void {
    this.#values.reject(error)
  }

  get signal(): AbortSignal {
    this.#abort ??= this.#abortWithLoads(new AbortController())
    return this.#abort.signal
  }

  keep(key: string, options: KeepOptions): void {
    this.loads.get(key)?.keep(options)
  }

  uncacheable(key: string, options?: UncacheableOptions): void {
    this.loads.get(key)?.uncacheable(options)
  }

  #abortWithLoads(abort: AbortController): AbortController {
    const signals = [...this.loads.values()].map(({ signal }) => signal)
    for (const signal of signals) {
      signal.addEventListener('abort', () => {
        if (signals.every(({ aborted }) => aborted)) abort.abort(signal.reason)
      })
    }
    return abort
  }
}
