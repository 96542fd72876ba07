import { AsyncResource } from 'node:async_hooks'
import type { CancelTimer, Ending } from '@cattlegrid/core/extend'
import type { StepParts } from '../lua/scripts.ts'

/** The time between two attempts, ms. */
const RETRY_INTERVAL = 100
/**
 * Number of releases that are sent at once. Each answer lets another one follow, so a server that refuses
 * them all gets no more.
 */
const SENT_AT_ONCE = 16
/** The time between two attempts to release a lease that Redis does not know yet, ms. */
const UNKNOWN_INTERVAL = 500
/** Number of releases that are kept. Beyond it, the oldest lease ends by itself. */
const CAPACITY = 10_000

interface PendingRelease {
  readonly key: string
  readonly token: string
  readonly ending: Ending
  /** The end of the load: cooldowns and marks count from here. */
  readonly since: number
  /** The lease has ended by itself from here on. */
  readonly until: number
  /** Until then the acquire may be executed: that Redis does not know the lease ends nothing. */
  readonly mayAppearUntil: number
  /** Not sent again before this. */
  notBefore: number
  sending: boolean
}

/** A lease that may still be held. */
export interface UnconfirmedLease {
  readonly key: string
  readonly token: string
  /** The duration that was requested last, ms. Redis may have granted it just now. */
  readonly duration: number
  /** For so long, ms, the connection of an acquire without an answer may deliver it. Default: 0. */
  readonly mayAppearFor?: number | undefined
}

/**
 * The releases of leases that this process no longer uses, and whose end Redis has not confirmed: it refused
 * or did not answer the commit, the release or the acquire. Each is sent again until Redis answers it,
 * whatever it answers, or until the lease has ended by itself. That is harmless when the commit was executed:
 * its token is gone. After an acquire, the answer that there is no such lease ends nothing: the acquire may
 * be executed yet.
 */
export class PendingReleases {
  readonly #parts: StepParts
  readonly #onAdd: (key: string) => void
  /** Runs the timer outside the async context of the request that ended the lease. */
  readonly #scope = new AsyncResource('cattlegrid')
  /** By key. Two tokens of one key may be pending: either acquire may have been executed. */
  readonly #pending = new Map<string, Set<PendingRelease>>()
  #count = 0
  #cancelRetry: CancelTimer | undefined
  #closed = false

  /** `onAdd` is called with the key of a lease that this process no longer uses. */
  constructor(parts: StepParts, onAdd: (key: string) => void) {
    this.#parts = parts
    this.#onAdd = onAdd
  }

  /** Sends the release now, behind the unanswered step, and again until it is answered. */
  add({ key, token, duration, mayAppearFor = 0 }: UnconfirmedLease, ending: Ending): void {
    if (this.#closed) return
    const since = this.#parts.runtime.elapsed()
    const times = { since, until: since + duration, mayAppearUntil: since + mayAppearFor, notBefore: 0 }
    const release: PendingRelease = { key, token, ending, ...times, sending: false }
    const [oldest] = this.#pending.values()
    if (this.#count >= CAPACITY) for (const dropped of oldest ?? []) this.#remove(dropped)
    const ofKey = this.#pending.get(key)
    if (ofKey === undefined) this.#pending.set(key, new Set([release]))
    else ofKey.add(release)
    this.#count += 1
    this.#scheduleRetry()
    void this.#send(release)
    this.#onAdd(key)
  }

  /**
   * Sends the pending releases of a key that is about to be acquired: on the connection of that acquire, so
   * Redis executes them before it. Resolves to true when Redis has answered them all. Returns undefined when
   * there are none.
   */
  sendOf(key: string): Promise<boolean> | undefined {
    const ofKey = this.#pending.get(key)
    return ofKey && Promise.all([...ofKey].map((release) => this.#send(release))).then((all) => !all.includes(false))
  }

  /** Sends every pending release once more, and no further one. */
  close(): void {
    this.#closed = true
    this.#cancelRetry?.()
    for (const key of this.#pending.keys()) void this.sendOf(key)
    this.#pending.clear()
  }

  #scheduleRetry(): void {
    this.#cancelRetry ??= this.#scope.runInAsyncScope(() => this.#parts.runtime.schedule(this.#retry, RETRY_INTERVAL))
  }

  readonly #retry = (): void => {
    this.#cancelRetry = undefined
    const now = this.#parts.runtime.elapsed()
    const all = [...this.#pending.values()].flatMap((ofKey) => [...ofKey])
    for (const release of all) if (now >= release.until) this.#remove(release)
    if (this.#count === 0) return
    this.#scheduleRetry()
    const unsent = all.filter(({ sending, until, notBefore }) => !sending && now < until && now >= notBefore).values()
    for (let chain = 0; chain < SENT_AT_ONCE; chain += 1) void this.#sendWhileAnswered(unsent)
  }

  /** Several calls share `unsent`. Ends with the first release that is not answered. */
  async #sendWhileAnswered(unsent: Iterator<PendingRelease>): Promise<void> {
    for (let next = unsent.next(); next.done !== true; next = unsent.next())
      if (!next.value.sending && !(await this.#send(next.value))) return
  }

  /** Returns true when Redis has answered. */
  async #send(release: PendingRelease): Promise<boolean> {
    const { steps, scripts, runtime } = this.#parts
    const { key, token, ending, since } = release
    release.sending = true
    const left = shortened(ending, runtime.elapsed() - since)
    const answer = await steps.run(async () => ({ kind: await scripts.release(key, token, left) }))
    release.sending = false
    if (answer.kind === 'away') this.#moveToEnd(key)
    else if (answer.kind === 'released' || runtime.elapsed() >= release.mayAppearUntil) this.#remove(release)
    else release.notBefore = runtime.elapsed() + UNKNOWN_INTERVAL
    return answer.kind !== 'away'
  }

  /** A server that answers is found although another one, whose releases are older, does not. */
  #moveToEnd(key: string): void {
    const ofKey = this.#pending.get(key)
    if (ofKey === undefined) return
    this.#pending.delete(key)
    this.#pending.set(key, ofKey)
  }

  #remove(release: PendingRelease): void {
    const ofKey = this.#pending.get(release.key)
    if (ofKey?.delete(release) !== true) return
    this.#count -= 1
    if (ofKey.size === 0) this.#pending.delete(release.key)
  }
}

/** A cooldown or a mark lasts no longer because its release is late. */
function shortened(ending: Ending, late: number): Ending {
  if (ending.kind === 'failed') return { ...ending, cooldown: Math.max(1, ending.cooldown - late) }
  return ending.kind === 'uncacheable' ? { ...ending, for: Math.max(0, ending.for - late) } : ending
}
