import type { ReadResult } from '@cattlegrid/core'
import type { RequestContext } from '../road/admission.ts'
import { isVaryRecord, type Stored } from '../response/recorded-response.ts'
import type { Lifetime } from '../response/lifetime.ts'
import { variantKey } from '../response/vary.ts'
import type { ObservedRun } from '../route/http-cache.ts'
import { type Role, roleOf } from './role.ts'
import type { LookupKeys } from '../road/storage-key.ts'
import { storeTrace, traceKeyOf } from './trace.ts'

/** A response that would have been stored. */
export interface TracedResponse {
  /** The names in its `Vary` that select it. */
  readonly names: readonly string[]
  readonly lifetime: Lifetime
  /** Its age when it was recorded, s. */
  readonly initialAge: number
}

/**
 * The lookup that an observed request would have made: among traces, and with the runs of other
 * observed requests.
 */
export class ObservedLookup {
  /** Resolves when the role is known. Never rejects. */
  readonly done: Promise<void>
  readonly #context: RequestContext
  #trace: LookupKeys
  #found: ReadResult<Stored> | undefined
  #role: Role = 'unknown'
  #run: ObservedRun | undefined
  #leads = false
  #closed = false

  /** `outside`: reads the request's fields, which is no read by its handler. */
  constructor(context: RequestContext, outside: (call: () => string) => string) {
    this.#context = context
    const base = traceKeyOf(context.key)
    this.#trace = { urlKey: base, record: undefined, key: base }
    this.done = this.#look(outside)
  }

  get role(): Role {
    return this.#role
  }

  /** The run that the request would have waited for, or its own. */
  get run(): ObservedRun | undefined {
    return this.#run
  }

  /** True if a response of the URL was stored before. */
  get storedBefore(): boolean {
    return this.#found !== undefined
  }

  /**
   * Stores a trace of the response if it is the one that would have been stored, and ends its run.
   * Never rejects.
   */
  async end(response: TracedResponse | undefined): Promise<void> {
    if (!this.#leads) return
    if (response !== undefined) await this.#store(response)
    this.#endRun()
  }

  /**
   * The client has left: its handler may never end, and no later request counts as one that would have waited
   * for it.
   */
  close(): void {
    this.#closed = true
    this.#endRun()
  }

  #endRun(): void {
    const { key } = this.#trace
    if (this.#leads && this.#running.get(key) === this.#run) this.#running.delete(key)
  }

  async #store({ names, lifetime, initialAge }: TracedResponse): Promise<void> {
    try {
      await storeTrace(this.#context.route, this.#trace, this.#context.exchange.headers, names, lifetime, initialAge)
    } catch {
      // The store is away or full: later observations miss a hit.
    }
  }

  async #look(outside: (call: () => string) => string): Promise<void> {
    const { view } = this.#context.route
    const { urlKey } = this.#trace
    try {
      this.#found = view.peek<Stored>(urlKey) ?? (await view.read<Stored>(urlKey))
      const record = this.#found?.value
      if (record !== undefined && isVaryRecord(record)) {
        const key = outside(() => variantKey(urlKey, record, this.#context.exchange.headers))
        this.#trace = { urlKey, record, key }
        this.#found = view.peek<Stored>(key) ?? (await view.read<Stored>(key))
      }
    } catch {
      // A fault of the cache must not reach the client.
    }
    this.#takeRole()
  }

  #takeRole(): void {
    const { key } = this.#trace
    const running = this.#running.get(key)
    this.#role = roleOf(this.#found, this.#context, running)
    this.#leads =
      this.#role === 'leader' ||
      (this.#role === 'stale' && this.#context.unshareable === undefined && running === undefined)
    if (this.#role === 'follower') this.#run = running
    if (!this.#leads) return
    this.#run = { refused: undefined }
    if (!this.#closed) this.#running.set(key, this.#run)
  }

  get #running(): Map<string, ObservedRun> {
    return this.#context.route.observedRuns
  }
}
