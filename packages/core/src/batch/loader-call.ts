import type { Events } from '../events/events.ts'
import type { AdmissionControl } from '../flight/admission-control.ts'
import { Deferred } from '../flight/deferred.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { PermitSource } from '../flight/permits.ts'
import { closeLoadScope, type LoadScope, runInLoad } from '../flight/reentrancy.ts'
import { LoaderArgument } from '../claim/loader-argument.ts'
import type { KeepOptions, Load, UncacheableOptions } from '../load.ts'
import { storedKey } from '../options/stored-key.ts'
import type { ManyLoad, ManyLoader } from './many-loader.ts'
import { SharedPermit } from './shared-permit.ts'

/** One call of the loader of many keys, from its first key to its end. */
export class LoaderCall implements ManyLoad {
  readonly permit: SharedPermit
  readonly #admission: AdmissionControl
  readonly #events: Events
  /**
   * A key may load twice: for its own caller alone, and for those that joined that caller's flight before.
   */
  readonly #loads = new Set<Load<never>>()
  /** Those for which the loader was called. */
  readonly #loadsByKey = new Map<string, readonly Load<never>[]>()
  readonly #values = new Deferred<ReadonlyMap<string, unknown>>()
  #abort: AbortController | undefined
  #scope: LoadScope | undefined

  constructor({ admission, events }: EngineServices, permits: PermitSource, onShareReleased: () => void) {
    this.#admission = admission
    this.#events = events
    this.permit = new SharedPermit(permits, () => {
      if (this.permit.shares === 0) this.#closeScope()
      onShareReleased()
    })
  }

  get loads(): ReadonlySet<Load<never>> {
    return this.#loads
  }

  /**
   * True when at least one key loads, and no other key that holds a share of the permit still asks for its
   * lease. Each load holds a share, so only a key that still asks makes the shares more than the loads.
   */
  get ready(): boolean {
    return this.#loads.size > 0 && this.permit.shares <= this.#loads.size
  }

  /** Resolves to the loader's Map. */
  get values(): Promise<ReadonlyMap<string, unknown>> {
    return this.#values.promise
  }

  get signal(): AbortSignal {
    this.#abort ??= this.#abortWithLoads(new AbortController())
    return this.#abort.signal
  }

  add(load: Load<never>): void {
    this.#loads.add(load)
  }

  remove(load: Load<never>): void {
    this.#loads.delete(load)
  }

  // Loaders take them out of the object, as they do with those of a `Load`.
  readonly keep = (key: string, options: KeepOptions): void => {
    for (const load of this.#loadsByKey.get(key) ?? []) load.keep(options)
  }

  readonly uncacheable = (key: string, options?: UncacheableOptions): void => {
    for (const load of this.#loadsByKey.get(key) ?? []) load.uncacheable(options)
  }

  /**
   * Calls the loader, inside the load of each of its keys. `outer`: the scope around the batch, for which it
   * counts unless all of its loads run in the background.
   */
  async run(loader: ManyLoader<unknown>, outer: LoadScope | undefined): Promise<void> {
    for (const load of this.#loads) this.#loadsByKey.set(load.key, [...(this.#loadsByKey.get(load.key) ?? []), load])
    const keys = [...this.#loadsByKey.keys()]
    const background = [...this.#loads].every((load) => load.background)
    const scope = this.#admission.openLoadScope(background ? undefined : outer, keys.map(storedKey))
    this.#scope = scope
    try {
      const values = checkMap(await runInLoad(scope, async () => await loader(keys, this)))
      this.#tellOtherKeys(keys, values)
      this.#values.resolve(values)
    } catch (error) {
      this.#values.reject(error)
    } finally {
      this.#closeScope()
    }
  }

  /**
   * A key that is left out has no value; where the Map has others instead, it names them in another way than
   * they were asked for, and nothing is ever stored.
   */
  #tellOtherKeys(keys: readonly string[], values: ReadonlyMap<string, unknown>): void {
    if (!(values.size > 0) || keys.some((key) => values.has(key))) return
    const message =
      'The Map that the loader of getOrSetMany returned has other keys than the loader got, so no value is stored. Its keys must be those of the first ' +
      'argument, as they are: the same texts, not the ids in them or numbers.'
    this.#events.warnOnce(message, 'CATTLEGRID_OTHER_KEYS')
  }

  /** Its loads may end before the loader does, at `loadTimeout`. */
  #closeScope(): void {
    if (this.#scope !== undefined) closeLoadScope(this.#scope)
    this.#scope = undefined
  }

  #abortWithLoads(abort: AbortController): AbortController {
    let running = this.#loads.size
    const onStop = (reason: unknown): void => {
      running -= 1
      if (running === 0) abort.abort(reason)
    }
    for (const load of this.#loads) LoaderArgument.onStop(load, onStop)
    return abort
  }
}

function checkMap(values: unknown): ReadonlyMap<string, unknown> {
  const { has, get } = (values ?? {}) as Partial<Record<'has' | 'get', unknown>>
  if (typeof has === 'function' && typeof get === 'function') return values as ReadonlyMap<string, unknown>
  const got = Array.isArray(values) ? 'a list' : 'no Map'
  throw new TypeError(
    `The loader of getOrSetMany returned ${got}; it must return a Map of keys and values, such as new Map(keys.map((key, index) => [key, rows[index]]))`,
  )
}
