import { Deferred } from './deferred.ts'
import type { Entry } from '../entry.ts'
import type { Outcome } from '../load.ts'

/** What a flight has for one of its callers. */
export type FlightResult =
  | { readonly kind: 'loaded'; readonly value: unknown; readonly freshFor: number }
  /** Somebody else's commit. */
  | { readonly kind: 'found'; readonly entry: Entry }
  /** `failure` false: the error is an answer, and no reason to serve a stale value instead. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly failure: boolean }
  /** Nothing for this caller: it looks again. */
  | { readonly kind: 'again' }
  /** Nothing for this caller: it loads alone. */
  | { readonly kind: 'alone' }

/** Who waits for a flight, from `board` until it lands or leaves. */
export interface FlightWaiter {
  /** Takes what the flight has for it, which has forgotten the waiter by then. */
  settle(result: FlightResult): void
  /** Told that the flight follows from now on: its time may run out. */
  onFollowing(): void
}

type Phase = 'asking' | 'following' | 'loading' | 'committing'

/**
 * The one running refresh of a key in this process. Three groups of callers wait for it, because not everybody may have everything:
 * its owner, whose loader it runs; those that joined before the load began; and those that joined later, who get the value only once
 * it is known to stand, since an invalidation may lie between the load's begin and their call.
 */
export class Flight {
  readonly key: string
  readonly background: boolean
  readonly #owner = new Set<FlightWaiter>()
  readonly #early = new Set<FlightWaiter>()
  readonly #late = new Set<FlightWaiter>()
  readonly #outcome = new Deferred<Outcome>()
  readonly #finished = new Deferred<void>()
  #phase: Phase = 'asking'
  #detached = false
  #followed = 0
  #followingSince: number | undefined
  #notifiesWithin = Infinity
  #keepsRunning = false
  /** Called when the last caller leaves. */
  onAbandoned: (() => void) | undefined
  /** Ends the running load with this error, from outside. */
  cut: ((error: unknown) => void) | undefined

  constructor(key: string, background: boolean) {
    this.key = key
    this.background = background
  }

  /** How the load ends; never rejects. */
  get outcome(): Promise<Outcome> {
    return this.#outcome.promise
  }

  /** Settles when it has nothing to tell the store any more, either: callers do not wait for a lease that is given back. */
  get finished(): Promise<void> {
    return this.#finished.promise
  }

  get joinable(): boolean {
    return !this.#detached && this.#phase !== 'committing'
  }

  /** Whether nobody wants its load any more: one that has not begun is let be. */
  get abandoned(): boolean {
    return this.callers === 0 && !this.#keepsRunning
  }

  /** How many calls wait for it. */
  get callers(): number {
    return this.#owner.size + this.#early.size + this.#late.size
  }

  add(waiter: FlightWaiter, as: 'owner' | 'joiner'): void {
    if (as === 'owner') this.#owner.add(waiter)
    else (this.#phase === 'loading' ? this.#late : this.#early).add(waiter)
  }

  /** The waiter waits no longer. */
  remove(waiter: FlightWaiter): void {
    for (const group of this.#groups) group.delete(waiter)
    if (this.abandoned) this.onAbandoned?.()
  }

  /** A caller goes on with a stale value, and counts on the load behind it. */
  keepRunning(): void {
    this.#keepsRunning = true
  }

  /** No later call joins. */
  detach(): void {
    this.#detached = true
  }

  /** `within`, ms: when its callers are told at the latest that it follows again, if it still does by then. */
  follow(now: number, within: number = Infinity): void {
    this.#phase = 'following'
    this.#followingSince = now
    this.#notifiesWithin = within
    for (const group of this.#groups) for (const waiter of group) waiter.onFollowing()
  }

  stopFollowing(now: number): void {
    this.#followed = this.followed(now)
    this.#followingSince = undefined
    this.#phase = 'asking'
  }

  /** While it follows, its callers hear of it again at least this often, ms. */
  get notifiesWithin(): number {
    return this.#notifiesWithin
  }

  get following(): boolean {
    return this.#phase === 'following'
  }

  /** The time that it has spent as a follower, ms. */
  followed(now: number): number {
    return this.#followed + (this.#followingSince === undefined ? 0 : now - this.#followingSince)
  }

  beginLoad(): void {
    this.#phase = 'loading'
  }

  /** From here on no caller joins: an invalidation could be acknowledged between the commit and the joiner's call. */
  beginCommit(): void {
    this.#phase = 'committing'
  }

  /** What comes is the owner's alone: everybody else is sent on, and nobody joins. */
  release(kind: 'alone' | 'again'): void {
    this.detach()
    deliver({ kind }, this.#early)
    deliver({ kind }, this.#late)
  }

  /** The value is there for all who asked before its load began. */
  settleEarly(result: FlightResult): void {
    deliver(result, this.#owner)
    deliver(result, this.#early)
  }

  /** The same for everybody who has no result yet; the flight is over. */
  settle(result: FlightResult, outcome: Outcome): void {
    this.detach()
    this.settleEarly(result)
    deliver(result, this.#late)
    this.#outcome.resolve(outcome)
  }

  finish(): void {
    this.#finished.resolve()
  }

  get #groups(): readonly Set<FlightWaiter>[] {
    return [this.#owner, this.#early, this.#late]
  }
}

function deliver(result: FlightResult, waiters: Set<FlightWaiter>): void {
  const all = [...waiters]
  waiters.clear()
  for (const waiter of all) waiter.settle(result)
}
