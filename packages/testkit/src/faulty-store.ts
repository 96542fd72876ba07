import {
  type Acquire,
  type AcquireRequest,
  type Away,
  type Codec,
  type Ending,
  InvalidOptionError,
  type Lease,
  type NewEntry,
  type Notice,
  type Read,
  type Runtime,
  type Store,
  systemRuntime,
} from '@cattlegrid/core'

/** A step of a store that can go wrong. */
export type StoreVerb = Exclude<keyof Store, 'shared' | 'peek' | 'watch'>

/** Which calls a fault befalls. */
export interface StoreFaultScope {
  /** Default: every verb but `close`. */
  readonly verbs?: readonly StoreVerb[] | undefined
  /** How many of these calls go well first, counted from the injection. Default: 0. */
  readonly after?: number | undefined
  /** How many of them it befalls then. Default: all, until it is healed. */
  readonly times?: number | undefined
}

/** What becomes of a step. */
export type StoreFault = StoreFaultScope &
  /** Not executed; the answer is `away`, at once: a connection that is closed. */
  (
    | { readonly kind: 'away' }
    /** Not executed and never answered: a server that is stopped. */
    | { readonly kind: 'hang' }
    /** Executed at once and answered `ms` later; with `Infinity` never, so that nobody learns of it. */
    | { readonly kind: 'late'; readonly ms: number }
    /** Executed and answered `ms` later, when its caller may have given up long ago. */
    | { readonly kind: 'delayed'; readonly ms: number }
    /** Executed, but the answer is `away`: the connection broke before the reply. */
    | { readonly kind: 'lost' }
    /** Not executed; the promise rejects, which no store may do. Default error: one that says so. */
    | { readonly kind: 'reject'; readonly error?: unknown }
    /** As `reject`, thrown before there is a promise. */
    | { readonly kind: 'throw'; readonly error?: unknown }
  )

/**
 * A store that goes wrong when it is told to. It stands for one that is elsewhere: it counts as shared, so that a cache guards it by
 * `storeTimeout`, and nothing of it is at hand in the process, so that every call asks it.
 */
export interface FaultyStore extends Store {
  /**
   * Adds a fault; of two that befall the same call the later one does. Returns what ends this one.
   *
   * @throws InvalidOptionError for a verb that no store has, or a number that cannot be.
   */
  inject(fault: StoreFault): () => void
  /** Ends every fault. What hangs already goes on hanging, and what is late comes when it is due. */
  heal(): void
  /** How often a verb was called, whatever became of it. */
  countOf(verb: StoreVerb): number
}

/**
 * Wraps a store so that its steps fail, hang or answer late.
 *
 * @param plan faults that are on from the start. Default: none.
 * @param runtime what `late` and `delayed` count by; `createManualRuntime()` moves them by hand. Default: the clock.
 */
export function faultyStore(
  store: Store,
  plan: readonly StoreFault[] = [],
  runtime: Runtime = systemRuntime,
): FaultyStore {
  const faulty = new StoreWithFaults(store, runtime)
  for (const fault of plan) faulty.inject(fault)
  return faulty
}

interface Injected {
  readonly fault: StoreFault
  /** Calls in its scope so far. */
  calls: number
}

class StoreWithFaults implements FaultyStore {
  readonly shared = true
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #faults = new Set<Injected>()
  readonly #calls: Record<StoreVerb, number> = {
    read: 0,
    acquire: 0,
    renew: 0,
    commit: 0,
    release: 0,
    put: 0,
    invalidate: 0,
    invalidateTags: 0,
    tagNumbers: 0,
    clear: 0,
    inspect: 0,
    ping: 0,
    close: 0,
  }

  constructor(store: Store, runtime: Runtime) {
    this.#store = store
    this.#runtime = runtime
  }

  inject(fault: StoreFault): () => void {
    check(fault, Object.keys(this.#calls))
    const injected = { fault, calls: 0 }
    this.#faults.add(injected)
    return () => {
      this.#faults.delete(injected)
    }
  }

  heal(): void {
    this.#faults.clear()
  }

  countOf(verb: StoreVerb): number {
    return this.#calls[verb]
  }

  peek(): undefined {
    return undefined
  }

  read(key: string, codec: Codec): Promise<Read> {
    return this.#step('read', () => this.#store.read(key, codec))
  }

  acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    return this.#step('acquire', () => this.#store.acquire(key, request))
  }

  renew(lease: Lease, duration: number): ReturnType<Store['renew']> {
    return this.#step('renew', () => this.#store.renew(lease, duration))
  }

  commit(lease: Lease, entry: NewEntry, codec: Codec): ReturnType<Store['commit']> {
    return this.#step('commit', () => this.#store.commit(lease, entry, codec))
  }

  release(lease: Lease, ending: Ending): ReturnType<Store['release']> {
    return this.#step('release', () => this.#store.release(lease, ending))
  }

  put(key: string, entry: NewEntry, codec: Codec): ReturnType<Store['put']> {
    return this.#step('put', () => this.#store.put(key, entry, codec))
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): ReturnType<Store['invalidate']> {
    return this.#step('invalidate', () => this.#store.invalidate(key, how, holdOff))
  }

  invalidateTags(tags: readonly string[]): ReturnType<Store['invalidateTags']> {
    return this.#step('invalidateTags', () => this.#store.invalidateTags(tags))
  }

  tagNumbers(tags: readonly string[]): ReturnType<Store['tagNumbers']> {
    return this.#step('tagNumbers', () => this.#store.tagNumbers(tags))
  }

  clear(): ReturnType<Store['clear']> {
    return this.#step('clear', () => this.#store.clear())
  }

  inspect(key: string): ReturnType<Store['inspect']> {
    return this.#step('inspect', () => this.#store.inspect(key))
  }

  ping(): ReturnType<Store['ping']> {
    return this.#step('ping', () => this.#store.ping())
  }

  watch(listener: (notice: Notice) => void): () => void {
    return this.#store.watch(listener)
  }

  async close(): Promise<void> {
    await this.#step('close', () => this.#store.close())
  }

  #step<T>(verb: StoreVerb, execute: () => Promise<T>): Promise<T | Away> {
    this.#calls[verb] += 1
    const fault = this.#befalling(verb)
    switch (fault?.kind) {
      case undefined:
        return execute()
      case 'away':
        return Promise.resolve(away(verb))
      case 'hang':
        return new Promise(() => undefined)
      case 'late':
        return Promise.all([execute(), this.#rest(fault.ms)]).then(([answer]) => answer)
      case 'delayed':
        return this.#rest(fault.ms).then(execute)
      case 'lost':
        return execute().then(() => away(verb))
      case 'reject':
        return Promise.reject(errorOf(fault, verb))
      case 'throw':
        throw errorOf(fault, verb)
    }
  }

  /** The fault for this call. Those that it is not for count it too: `after` and `times` tell of calls, not of faults. */
  #befalling(verb: StoreVerb): StoreFault | undefined {
    let last: StoreFault | undefined
    for (const injected of this.#faults) {
      const { verbs, after = 0, times = Infinity } = injected.fault
      if (verbs === undefined ? verb === 'close' : !verbs.includes(verb)) continue
      injected.calls += 1
      if (injected.calls > after && injected.calls <= after + times) last = injected.fault
    }
    return last
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#runtime.schedule(resolve, ms)
    })
  }
}

function away(verb: StoreVerb): Away {
  return { kind: 'away', why: 'error', cause: new Error(`The faulty store does not answer '${verb}'`) }
}

function errorOf(fault: { readonly error?: unknown }, verb: StoreVerb): Error {
  const { error } = fault
  if (error instanceof Error) return error
  return new Error(`The faulty store breaks its contract in '${verb}'`, { cause: error })
}

function check({ verbs = [], after = 0, times = 1, ...fault }: StoreFault, known: readonly string[]): void {
  for (const verb of verbs) {
    if (!known.includes(verb)) throw new InvalidOptionError('fault.verbs', verb, known.join(', '))
  }
  if (!(after >= 0)) throw new InvalidOptionError('fault.after', after, 'a number of calls from 0 on')
  if (!(times >= 1)) throw new InvalidOptionError('fault.times', times, 'a number of calls from 1 on')
  if ('ms' in fault && !(fault.ms >= 0)) throw new InvalidOptionError('fault.ms', fault.ms, 'a number of ms from 0 on')
}
