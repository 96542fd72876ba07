import type { Codec } from './codec.ts'
import { Deferred } from './deferred.ts'
import type { Engine } from './engine.ts'
import type { Entry } from './entry.ts'
import type { Outcome } from './load.ts'
import type { Away, Read } from './store/store.ts'

/** What a flight has for one of its callers. */
export type Landing =
  | { readonly kind: 'loaded'; readonly value: unknown; readonly freshFor: number }
  /** Somebody else's commit. */
  | { readonly kind: 'found'; readonly entry: Entry }
  /** `failure` false: the error is an answer, and no reason to serve a stale value instead. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly failure: boolean }
  /** Nothing for this caller: it looks again. */
  | { readonly kind: 'again' }
  /** Nothing for this caller: it loads alone. */
  | { readonly kind: 'alone' }

type Phase = 'asking' | 'following' | 'loading' | 'committing'

/**
 * The one running refresh of a key in this process. Three groups of callers wait for it, because not everybody may have everything:
 * its owner, whose loader it runs; those that joined before the load began; and those that joined later, who get the value only once
 * it is known to stand, since an invalidation may lie between the load's begin and their call.
 */
export class Flight {
  readonly key: string
  readonly background: boolean
  readonly #owner = new Deferred<Landing>()
  readonly #early = new Deferred<Landing>()
  readonly #late = new Deferred<Landing>()
  readonly #outcome = new Deferred<Outcome>()
  readonly #over = new Deferred<void>()
  #phase: Phase = 'asking'
  #detached = false
  #callers = 0
  #followed = 0
  #followingSince: number | undefined
  #tellsWithin = Infinity
  #wanted = false
  readonly #onFollow = new Set<() => void>()
  /** Called when the last caller leaves. */
  onDeserted: (() => void) | undefined
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
  get over(): Promise<void> {
    return this.#over.promise
  }

  get joinable(): boolean {
    return !this.#detached && this.#phase !== 'committing'
  }

  /** Whether nobody wants its load any more: one that has not begun is let be. */
  get deserted(): boolean {
    return this.#callers === 0 && !this.#wanted
  }

  /** How many calls wait for it. */
  get callers(): number {
    return this.#callers
  }

  board(as: 'owner' | 'joiner'): Promise<Landing> {
    this.#callers += 1
    if (as === 'owner') return this.#owner.promise
    return this.#phase === 'loading' ? this.#late.promise : this.#early.promise
  }

  leave(): void {
    this.#callers -= 1
    if (this.deserted) this.onDeserted?.()
  }

  /** A caller goes on with a stale value, and counts on the load behind it. */
  want(): void {
    this.#wanted = true
  }

  /** Calls `watcher` whenever the flight begins to follow. Returns how to stop that. */
  watchFollow(watcher: () => void): () => void {
    this.#onFollow.add(watcher)
    return () => {
      this.#onFollow.delete(watcher)
    }
  }

  /** No later call joins. */
  detach(): void {
    this.#detached = true
  }

  /** `within`, ms: when its callers are told at the latest that it follows again, if it still does by then. */
  follow(now: number, within: number = Infinity): void {
    this.#phase = 'following'
    this.#followingSince = now
    this.#tellsWithin = within
    for (const watcher of this.#onFollow) watcher()
  }

  stopFollowing(now: number): void {
    this.#followed = this.followed(now)
    this.#followingSince = undefined
    this.#phase = 'asking'
  }

  /** While it follows, its callers hear of it again at least this often, ms. */
  get tellsWithin(): number {
    return this.#tellsWithin
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
    this.#early.resolve({ kind })
    this.#late.resolve({ kind })
  }

  /** The value is there for all who asked before its load began. */
  landLoaded(landing: Landing): void {
    this.#owner.resolve(landing)
    this.#early.resolve(landing)
  }

  /** The same for everybody who has no landing yet; the flight is over. */
  land(landing: Landing, outcome: Outcome): void {
    this.detach()
    this.landLoaded(landing)
    this.#late.resolve(landing)
    this.#outcome.resolve(outcome)
  }

  end(): void {
    this.#over.resolve()
  }
}

interface ReadFlight {
  readonly codec: Codec
  /** Undefined once it is over: a Map that grows leaves its old tables behind, with all that stood in them. */
  read: Promise<Read> | undefined
}

/** The slots: at most one joinable read and one joinable refresh a key. A slot is cleared only by who is still in it. */
export class Flights {
  readonly #engine: Pick<Engine, 'store' | 'events'>
  readonly #reads = new Map<string, ReadFlight>()
  readonly #refreshes = new Map<string, Flight>()
  readonly #running = new Set<Flight>()

  constructor(engine: Pick<Engine, 'store' | 'events'>) {
    this.#engine = engine
  }

  /** Every refresh that is not over, joinable or not. */
  get running(): ReadonlySet<Flight> {
    return this.#running
  }

  /**
   * Joins the read of the key that is under way, or starts one, and returns what `hear` makes of its answer. Who started it hears first, and
   * clears the slot before that: who asks because of the answer reads anew.
   */
  read<T>(key: string, codec: Codec, hear: (read: Read) => T | Promise<T>): Promise<T> {
    const running = this.#reads.get(key)
    if (running?.read !== undefined && running.codec === codec) return running.read.then(hear)
    const read = this.#engine.store.read(key, codec)
    const flight: ReadFlight = { codec, read }
    this.#reads.set(key, flight)
    return read.then(
      (answer) => {
        this.#clear(key, flight)
        if (answer.kind !== 'away' && answer.away !== undefined) this.#tell(key, answer.away)
        return hear(answer)
      },
      (error: unknown) => {
        this.#clear(key, flight)
        throw error
      },
    )
  }

  /** Once a read, and in the context of who started it. */
  #tell(key: string, { cause }: Away): void {
    const { events } = this.#engine
    if (events.heard('away')) events.emit('away', { key, step: 'read', error: cause })
  }

  #clear(key: string, flight: ReadFlight): void {
    flight.read = undefined
    if (this.#reads.get(key) === flight) this.#reads.delete(key)
  }

  /** The refresh of the key that a call may join. */
  joinable(key: string): Flight | undefined {
    const flight = this.#refreshes.get(key)
    return flight?.joinable === true ? flight : undefined
  }

  add(flight: Flight): void {
    this.#running.add(flight)
    if (flight.joinable) this.#refreshes.set(flight.key, flight)
  }

  remove(flight: Flight): void {
    this.#running.delete(flight)
    if (this.#refreshes.get(flight.key) === flight) this.#refreshes.delete(flight.key)
    flight.end()
  }

  /** The key has a newer state: no later call joins a read that may have missed it. */
  forgetRead(key: string): void {
    this.#reads.delete(key)
  }

  /** The key was invalidated: no later call joins anything that began before. */
  detach(key: string): void {
    this.#reads.delete(key)
    this.#refreshes.get(key)?.detach()
    this.#refreshes.delete(key)
  }

  detachAll(): void {
    this.#reads.clear()
    for (const key of this.#refreshes.keys()) this.detach(key)
  }
}
