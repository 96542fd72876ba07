import type { Cache, CacheEvent } from '@cattlegrid/core'
import type { Runtime } from '@cattlegrid/core/extend'
import { detailsOf, type EventDetails, holdsError, type RecordedEvent, type RecordedType } from './recorded-event.ts'
import { recordedTypes } from './timeline.ts'

/** An event in the ring; times by `now()`. */
interface Slot extends Pick<RecordedEvent, 'type' | 'key'> {
  /**
   * The event itself, unless it has an error, which may hold values. Its details are made when somebody asks.
   */
  readonly event: CacheEvent | undefined
  /** Those of an event with an error. */
  readonly details: EventDetails | undefined
  readonly at: number
  until: number
  count: number
  /** The number of events that were recorded before it. */
  readonly place: number
}

/** The equal events of a key's calls, while no other event of the key comes between. */
type Burst = { [T in MergedType]?: Slot }
type MergedType = 'miss' | 'join' | 'answer'

/** The number of keys whose bursts are kept: another one begins a new place for its next event. */
const MOST_BURSTS = 1000

/** The last events of one cache in this process. A herd takes few places: its equal events count as one. */
export class History {
  readonly size: number
  readonly #runtime: Runtime
  readonly #slots: Slot[] = []
  readonly #bursts = new Map<string, Burst>()
  #recorded = 0
  /** The sources whose limit is known. */
  readonly #limited = new Set<string>()
  #disconnected = false

  constructor(size: number, runtime: Runtime) {
    this.size = size
    this.#runtime = runtime
  }

  /** Records the events of a cache, until the returned function is called. */
  listenTo(cache: Pick<Cache, 'on'>): () => void {
    const stops = recordedTypes.map((type) => cache.on(type, (event) => this.#record(type, event)))
    return () => stops.forEach((stop) => stop())
  }

  /**
   * The events that tell the story of a key, oldest first: its own, the invalidations that may concern it
   * and, if there are any, those of the connection. `tags`: the known tags of its entry.
   */
  of(key: string, tags: readonly string[] = []): readonly RecordedEvent[] {
    const slots = this.#inOrder()
    const own = slots.filter((slot) => slot.key === key)
    const known = new Set([...tags, ...own.flatMap((slot) => (slot.type === 'commit' ? tagsIn(slot) : []))])
    const concerns = (slot: Slot): boolean =>
      slot.key === key || invalidates(slot, known) || (own.length > 0 && slot.key === undefined)
    return slots.filter(concerns).map((slot) => this.#dated(slot))
  }

  #record(type: RecordedType, event: CacheEvent): void {
    // The first connection and the first limit of a source are part of no story.
    if (event.type === 'notices' && event.state === 'connected' && !this.#disconnected) return
    if (event.type === 'notices') this.#disconnected = event.state === 'disconnected'
    if (event.type === 'load-limit' && !this.#limited.has(event.source)) return void this.#limited.add(event.source)
    const key = 'key' in event ? event.key : undefined
    const merges = type === 'miss' || type === 'join' || type === 'answer'
    if (key !== undefined && merges) return this.#merge(type, key, event)
    if (key !== undefined) this.#bursts.delete(key)
    this.#add(type, key, event)
  }

  #merge(type: MergedType, key: string, event: CacheEvent): void {
    const burst = this.#burstOf(key)
    const last = burst[type]
    const same = last !== undefined && last.place >= this.#recorded - this.size && isSame(last, event)
    if (!same) {
      burst[type] = this.#add(type, key, event)
      return
    }
    last.count += 1
    last.until = this.#runtime.now()
  }

  #burstOf(key: string): Burst {
    const known = this.#bursts.get(key)
    if (known !== undefined) return known
    const [oldest] = this.#bursts.keys()
    if (oldest !== undefined && this.#bursts.size === MOST_BURSTS) this.#bursts.delete(oldest)
    const burst: Burst = {}
    this.#bursts.set(key, burst)
    return burst
  }

  #add(type: RecordedType, key: string | undefined, event: CacheEvent): Slot {
    const at = this.#runtime.now()
    const details = holdsError(event) ? detailsOf(event) : undefined
    const kept = details === undefined ? event : undefined
    const slot = { type, key, event: kept, details, at, until: at, count: 1, place: this.#recorded }
    this.#slots[this.#recorded % this.size] = slot
    this.#recorded += 1
    return slot
  }

  #inOrder(): readonly Slot[] {
    const oldest = this.#recorded % this.size
    return this.#recorded < this.size ? this.#slots : [...this.#slots.slice(oldest), ...this.#slots.slice(0, oldest)]
  }

  /**
   * With the time of day, counted back from now: a step of the system's clock must not tear a story apart.
   */
  #dated(slot: Slot): RecordedEvent {
    const { type, key, at, until, count } = slot
    const zero = this.#runtime.timeOfDay() - this.#runtime.now()
    return { type, key, ...detailsIn(slot), at: Math.round(zero + at), until: Math.round(zero + until), count }
  }
}

/** Two answers merge if they are of the same kind. */
function isSame({ event: last, details }: Slot, event: CacheEvent): boolean {
  if (event.type === 'join') return last?.type === 'join' && last.flight === event.flight
  if (event.type !== 'answer') return true
  if (last === undefined) return event.status === details?.fields['status']
  return last.type === 'answer' && last.status === event.status && last.role === event.role
}

function detailsIn({ event, details }: Slot): EventDetails {
  return details ?? (event === undefined ? { fields: {}, failure: undefined } : detailsOf(event))
}

function tagsIn(slot: Slot): readonly string[] {
  const tags = detailsIn(slot).fields['tags']
  return Array.isArray(tags) ? (tags as readonly string[]) : []
}

/** True for an invalidation of everything, or of one of these tags. */
function invalidates(slot: Slot, tags: ReadonlySet<string>): boolean {
  if (slot.type !== 'invalidate') return false
  return detailsIn(slot).fields['how'] === 'clear' || tagsIn(slot).some((tag) => tags.has(tag))
}
