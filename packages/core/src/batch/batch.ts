import type { AdmissionControl, ReleasePermit, SharedWaiter } from '../flight/admission-control.ts'
import { runInLoad, activeLoads, endLoad, type ActiveLoad } from '../flight/reentrancy.ts'
import { ABSENT, type KeepOptions, type Load, type Loader, type UncacheableOptions } from '../load.ts'
import { storedKey } from '../stored-key.ts'
import type { CancelTimer, Runtime } from '../runtime.ts'

/** What the loader of many keys is told, and how it decides about each result. */
export interface ManyLoad {
  /** Aborts when every load of the batch is to stop. */
  readonly signal: AbortSignal
  /** Decides for the result of one key. */
  keep(key: string, options: KeepOptions): void
  /** The result of one key is not stored. */
  uncacheable(key: string, options?: UncacheableOptions): void
}

/** Produces the values of the keys that are missing; a key that the answer leaves out is not stored. */
export type ManyLoader<V> = (
  missing: readonly string[],
  load: ManyLoad,
) => ReadonlyMap<string, V> | Promise<ReadonlyMap<string, V>>

/**
 * One loader call for all keys that this process leads. Each key goes its own road; the batch begins once every one of them either leads
 * or is known to wait for somebody else. A key that is re-elected later makes a call of its own.
 */
export class Batch {
  readonly #loader: ManyLoader<unknown>
  readonly #admission: AdmissionControl
  readonly #undecided: Set<string>
  /** What the call itself runs inside of: its loader is called from inside the load of one of its keys. */
  readonly #inside: readonly ActiveLoad[]
  /** The keys of a batch that wait are one waiter. */
  readonly party: SharedWaiter = { waiting: 0 }
  #turn: ReleasePermit | undefined
  #group: Group = new Group()

  /** `turn`: taken before any lease, since waiting for one with leases in hand would keep the keys from everybody. */
  constructor(
    keys: Iterable<string>,
    loader: ManyLoader<unknown>,
    admission: AdmissionControl,
    turn: ReleasePermit | undefined,
  ) {
    this.#undecided = new Set(keys)
    this.#loader = loader
    this.#admission = admission
    this.#inside = activeLoads()
    this.#turn = turn
  }

  /** The loader of one of the keys. */
  loaderOf(key: string): Loader<unknown, never> {
    return async (load) => {
      const group = this.#group
      group.loads.set(key, load)
      this.decide(key)
      const values = await group.values
      return values.has(key) ? values.get(key) : ABSENT
    }
  }

  /** The key leads, waits, or has its answer: the batch need not wait for it. */
  decide(key: string): void {
    this.#undecided.delete(key)
    if (this.#undecided.size > 0) return
    const group = this.#group
    this.#group = new Group()
    if (group.loads.size > 0) void this.#run(group)
    else this.#takeTurn()?.()
  }

  async #run(group: Group): Promise<void> {
    const keys = [...group.loads.keys()]
    // The batch's turn is that of its first loader call; a key that is re-elected later needs another one.
    const atOnce = this.#takeTurn() ?? this.#admission.turn(this.#inside)
    const turn = atOnce ?? (await nextTurn(this.#admission))
    // Nobody waits any more for loads that have all ended meanwhile.
    if (atOnce === undefined && group.isOver) return turn()
    const loads = keys.map((key) => this.#admission.activeLoad(storedKey(key)))
    const chain = { loads: [...this.#inside, ...loads], over: false }
    try {
      group.resolve(checkMap(await runInLoad(chain, () => this.#loader(keys, group))))
    } catch (error) {
      group.reject(error)
    } finally {
      endLoad(chain)
      turn()
    }
  }

  #takeTurn(): ReleasePermit | undefined {
    const turn = this.#turn
    this.#turn = undefined
    return turn
  }
}

function nextTurn(admission: AdmissionControl): Promise<ReleasePermit> {
  return new Promise((resolve) => {
    admission.queueForPermit(resolve)
  })
}

/** A turn for a batch, or undefined when none is free within `budget` ms. */
export async function batchTurn(
  admission: AdmissionControl,
  runtime: Runtime,
  budget: number,
): Promise<ReleasePermit | undefined> {
  const free = admission.turn()
  if (free !== undefined) return free
  let cancel: CancelTimer | undefined
  const turn = await new Promise<ReleasePermit | undefined>((resolve) => {
    const leaveQueue = admission.queueForPermit(resolve)
    cancel = runtime.schedule(() => {
      leaveQueue()
      resolve(undefined)
    }, budget)
  })
  cancel?.()
  return turn
}

function checkMap(values: unknown): ReadonlyMap<string, unknown> {
  const { has, get } = (values ?? {}) as Partial<Record<'has' | 'get', unknown>>
  if (typeof has === 'function' && typeof get === 'function') return values as ReadonlyMap<string, unknown>
  throw new TypeError('The loader of getOrSetMany must return a Map of keys and values')
}

/** The keys of one loader call. */
class Group implements ManyLoad {
  readonly loads = new Map<string, Load<never>>()
  readonly values: Promise<ReadonlyMap<string, unknown>>
  resolve!: (values: ReadonlyMap<string, unknown>) => void
  reject!: (error: unknown) => void
  #abort: AbortController | undefined

  constructor() {
    this.values = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }

  get signal(): AbortSignal {
    this.#abort ??= this.#watch(new AbortController())
    return this.#abort.signal
  }

  /** Whether all of its loads have ended, by a time-out or from outside. */
  get isOver(): boolean {
    return [...this.loads.values()].every(({ signal }) => signal.aborted)
  }

  keep(key: string, options: KeepOptions): void {
    this.loads.get(key)?.keep(options)
  }

  uncacheable(key: string, options?: UncacheableOptions): void {
    this.loads.get(key)?.uncacheable(options)
  }

  #watch(abort: AbortController): AbortController {
    const signals = [...this.loads.values()].map(({ signal }) => signal)
    for (const signal of signals) {
      signal.addEventListener('abort', () => {
        if (signals.every(({ aborted }) => aborted)) abort.abort(signal.reason)
      })
    }
    return abort
  }
}
