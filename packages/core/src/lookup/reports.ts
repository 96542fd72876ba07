import { ageOf, type Entry, freshForOf } from '../entry.ts'
import type { EventChannel, Events } from '../events/events.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Activity } from '../activity.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { CallState, Served } from './served.ts'

/** Counts the hits of calls, and emits what became of each call. */
export class Reports {
  readonly #events: Events
  readonly #runtime: Runtime
  readonly #activity: Activity
  readonly #hitChannel: EventChannel
  readonly #staleHitChannel: EventChannel

  constructor({ events, runtime, activity }: EngineServices) {
    this.#events = events
    this.#runtime = runtime
    this.#activity = activity
    this.#hitChannel = events.channelOf('hit')
    this.#staleHitChannel = events.channelOf('stale-hit')
  }

  /** A hit of an entry that this process holds. */
  freshHit(key: string, entry: Entry): void {
    this.#activity.fresh[entry.from] += 1
    if (this.#hitChannel.hasListeners) this.#emitFreshHit(key, entry)
  }

  /** A function of its own, so that V8 can inline the hit. */
  #emitFreshHit(key: string, entry: Entry): void {
    this.#emitHit(key, entry, 'fresh', this.#runtime.coarseNow())
  }

  /** A hit of an entry that the store returned. */
  hit(key: string, entry: Entry, verdict: 'fresh' | 'stale', now: number): void {
    this.#activity[verdict][entry.from] += 1
    const listened = this.#hitChannel.hasListeners || (verdict === 'stale' && this.#staleHitChannel.hasListeners)
    if (listened) this.#emitHit(key, entry, verdict, now)
  }

  /**
   * Whole events, given to their channels: `Events.emit` finds the channel and completes the event, which
   * costs a hit about as much as its listener does.
   */
  #emitHit(key: string, entry: Entry, status: 'fresh' | 'stale', now: number): void {
    const { from, size } = entry
    const cache = this.#events.cacheName
    const age = ageOf(entry, now)
    const freshFor = freshForOf(entry, status === 'fresh', now)
    this.#hitChannel.emit({ key, status, from, age, freshFor, size, type: 'hit', cache })
    if (status === 'stale') this.#staleHitChannel.emit({ key, from, age, freshFor, type: 'stale-hit', cache })
  }

  miss(key: string, { id, startedAt }: CallState): void {
    if (this.#events.hasListeners('miss'))
      this.#events.emit('miss', { key, call: id, took: this.#runtime.elapsed() - startedAt })
  }

  /**
   * Settles as `answering` does; first emits the answer, if the call has missed or failed: one that is
   * aborted during its read has neither hit nor missed.
   */
  async answer(key: string, state: CallState, answering: Promise<Served>): Promise<Served> {
    try {
      const served = await answering
      const { status, from, role, age, waited } = served
      if (state.missed)
        this.#events.emit('answer', { key, call: state.id, status, from, role, age, waited, error: undefined })
      return served
    } catch (error) {
      const failed = { status: 'failed', from: undefined, role: undefined, age: 0 } as const
      this.#events.emit('answer', { key, call: state.id, ...failed, waited: state.waited, error })
      throw error
    }
  }
}
