import type { Cache, Claim, ClaimedAlone, ClaimedLead } from '@cattlegrid/core'
import { BoundedMap, LONGEST_WINDOW } from '@cattlegrid/core/extend'
import { digestOf } from './digest.ts'
import { Invalidations, viewFor } from './invalidations.ts'
import type { PathLog, PathMoment } from './path-log.ts'
import { tagsOfEntry } from './tag-names.ts'

/** A lead lasts for three times the last load of its key, within these bounds; and the first one, ms. */
const HOLD_PER_LOAD = 3
const SHORTEST_HOLD = 2_000
const LONGEST_HOLD = 30_000
const FIRST_HOLD = 10_000
/** A fresh value is good for this time, ms: the host judges it a moment after it got it. */
const MARGIN = 100
/** Number of keys whose load time is known. */
const TIMES_KEPT = 10_000
/** How long asks are remembered, ms, and how many of them. */
const ASK_KEPT = 60_000
const ASKS_KEPT = 10_000
/** A longer key of the host is replaced by its digest, in characters. */
const LONGEST_KEY = 60_000
/** The longest freshness, ms: 1,000 years. */
const LONGEST_FRESH = 1000 * 366 * 86_400_000

/** What the host hands over, and how long it lasts, ms. */
export interface Handed<V> {
  readonly value: V
  readonly ttl: number
  readonly staleFor: number
  readonly tags: readonly string[]
  /** When its load began, by `clock`. Undefined: the host does not tell. */
  readonly begunAt?: number | undefined
  /** False: it must not be stored if no `get` came before. */
  readonly onDemand: boolean
}

/** A load without a value to store. `failed`: the load did not come to its end. */
export interface Refused {
  readonly refused: 'too-large' | 'dynamic' | 'failed'
  readonly begunAt?: number | undefined
}

/** What the host may use. Times in ms. */
export interface Found<V> {
  readonly value: V
  /** Time since its load began. */
  readonly age: number
  /** The host must load anew: it has the lead. False also for a stale value that another caller refreshes. */
  readonly refresh: boolean
  /** Otherwise it need not load for at least this time: while another caller has the lead. */
  readonly goodFor: number
}

interface Stored<V> {
  readonly value: V
  readonly took: number
  /** The moment before its load. */
  readonly begin: PathMoment
}

/** A `get` after which the host loads. */
interface Ask<V> {
  readonly key: string
  readonly asker: object
  readonly at: number
  readonly begin: PathMoment
  /** Undefined once it is lost, and of a load that nobody may store. */
  lead: ClaimedLead<Stored<V>> | undefined
  /** Writes of keys that begin with this key, of the same load. */
  readonly parts: { readonly key: string; readonly stored: Promise<void> }[]
}

/**
 * The cache of a host that only knows `get` and `set`: one that gets nothing, or a stale value, from `get`
 * loads, and hands the result to `set`. It never says that a load failed.
 */
export class HostClaims<V> {
  readonly #cache: Cache
  readonly #prefix: string
  readonly #hasParts: boolean
  readonly #paths: PathLog
  /** By key, the oldest first. */
  readonly #asks = new Map<string, Ask<V>[]>()
  readonly #inOrder = new Set<Ask<V>>()
  readonly #writes = new Map<string, Promise<void>>()
  readonly #took = new BoundedMap<string, number>(TIMES_KEPT)

  /** `hasParts`: a load may also hand over values of keys that begin with its own. */
  constructor(cache: Cache, prefix: string, hasParts: boolean) {
    this.#cache = viewFor(cache)
    this.#prefix = prefix
    this.#hasParts = hasParts
    this.#paths = Invalidations.of(cache).paths
  }

  /**
   * Returns a value, or undefined if the host is to load. It waits while another caller loads the key.
   *
   * @param pathTags the value must be newer than the last invalidation of each.
   * @param asker who calls `set` after this.
   */
  async get(key: string, pathTags: readonly string[], asker: object): Promise<Found<V> | undefined> {
    await this.#writes.get(key)
    const hold = this.#holdOf(key)
    const storedKey = this.#storedKey(key)
    // At once: while the store is silent, both take as long as its time-out.
    const [{ now, invalidated }, claim] = await Promise.all([this.#paths.read(pathTags), this.#claim(storedKey, hold)])
    const by = { key, asker, begin: now }
    const found = this.#foundBy(claim, by, hold)
    if (found === undefined || pathTags.length === 0 || isNewer(found.begin, invalidated)) return found
    // Its load replaces the value for all paths.
    if (found.refresh) return undefined
    // Other paths may still use it: for this one there is a newer value beside it.
    const beside = await this.#claim(`${storedKey}@${invalidated.log}.${invalidated.number}`, hold)
    return this.#foundBy(beside, by, hold)
  }

  #storedKey(key: string): string {
    return this.#prefix + (key.length <= LONGEST_KEY ? key : digestOf(key))
  }

  async #claim(storedKey: string, hold: number): Promise<Claim<Stored<V>>> {
    try {
      return await this.#cache.claim<Stored<V>>(storedKey, { ttl: LONGEST_HOLD, hold })
    } catch {
      // The cache is closed, or has too many callers: the host loads anyway.
      return { kind: 'alone', why: 'away' }
    }
  }

  /** The value of a claim. Undefined: the host is to load, and the ask is remembered. */
  #foundBy(
    claim: Claim<Stored<V>>,
    by: Pick<Ask<V>, 'key' | 'asker' | 'begin'>,
    hold: number,
  ): (Found<V> & { readonly begin: PathMoment }) | undefined {
    const refresh = claim.kind !== 'value'
    if (refresh) this.#remember({ ...by, at: clock(), lead: undefined, parts: [] }, claim)
    const from = claim.kind === 'lead' ? claim.stale : claim.kind === 'value' ? claim : undefined
    if (from === undefined) return undefined
    const { value, took, begin } = from.value
    this.#took.set(by.key, took)
    const goodFor = claim.kind === 'value' && claim.status === 'stale' ? hold : MARGIN
    return { value, begin, age: from.age + took, refresh, goodFor }
  }

  /**
   * Stores what the host has loaded. Nothing is stored of a load that has lost its lead, or never had one. A
   * value for which the host did not ask before is written without a lead: it loads such a one on demand.
   * Never rejects for the store.
   */
  async set(key: string, handing: Promise<Handed<V> | Refused>, asker: object): Promise<void> {
    // Before anything is awaited: the host hands over the parts of a load first, and then the whole.
    const whole = this.#hasParts && !this.#asks.has(key) ? this.#wholeOf(key) : undefined
    const stored = handing.then((handed) => this.#store(key, handed, asker, whole))
    whole?.parts.push({ key, stored })
    await stored
  }

  async #store(key: string, handed: Handed<V> | Refused, asker: object, whole: Ask<V> | undefined): Promise<void> {
    const ask = this.#askOf(key, asker, handed.begunAt)
    if ('refused' in handed) return ask && (await this.#refuse(ask, handed.refused))
    if (ask !== undefined) return await this.#commit(ask, handed)
    if (whole === undefined && !handed.onDemand) return
    const written = this.#write(key, handed, whole?.begin ?? (await this.#paths.read([])).now)
    this.#writes.set(key, written)
    await written
    if (this.#writes.get(key) === written) this.#writes.delete(key)
  }

  /** A load that failed may be tried again at the end of its hold. */
  async #refuse(ask: Ask<V>, why: Refused['refused']): Promise<void> {
    if (why === 'failed') return
    this.#forget(ask)
    await ask.lead?.uncacheable({ why })
  }

  async #commit(ask: Ask<V>, handed: Handed<V>): Promise<void> {
    this.#forget(ask)
    const { key, lead, begin, parts } = ask
    // Whoever is woken by the commit reads them next.
    await Promise.allSettled(parts.map(({ stored }) => stored))
    const { took, keep } = keepOf(handed, ask.at)
    const outcome = await lead?.commit({ value: handed.value, took, begin }, keep)
    if (outcome?.kind === 'committed') this.#took.set(key, took)
    else await Promise.allSettled(parts.map((part) => this.#cache.delete(this.#storedKey(part.key))))
  }

  async #write(key: string, handed: Handed<V>, begin: PathMoment): Promise<void> {
    const { took, keep } = keepOf(handed, clock())
    const value = { value: handed.value, took, begin }
    // The events of the cache tell of a store that is away; the request needs no more.
    await this.#cache.set<Stored<V>>(this.#storedKey(key), value, keep).catch(() => undefined)
  }

  #holdOf(key: string): number {
    const took = this.#took.get(key)
    if (took === undefined) return FIRST_HOLD
    return Math.min(LONGEST_HOLD, Math.max(SHORTEST_HOLD, HOLD_PER_LOAD * took))
  }

  #remember(ask: Ask<V>, claim: ClaimedLead<Stored<V>> | ClaimedAlone): void {
    if (claim.kind === 'lead') {
      ask.lead = claim
      claim.signal.addEventListener('abort', () => (ask.lead = undefined), { once: true })
    }
    const asks = this.#asks.get(ask.key)
    if (asks === undefined) this.#asks.set(ask.key, [ask])
    else asks.push(ask)
    this.#inOrder.add(ask)
    for (const old of this.#inOrder) {
      if (ask.at - old.at < ASK_KEPT && this.#inOrder.size <= ASKS_KEPT) break
      this.#forget(old)
      void old.lead?.handOver()
    }
  }

  #forget(ask: Ask<V>): void {
    this.#inOrder.delete(ask)
    const left = (this.#asks.get(ask.key) ?? []).filter((other) => other !== ask)
    if (left.length === 0) this.#asks.delete(ask.key)
    else this.#asks.set(ask.key, left)
  }

  /** The load that also stores values under keys that begin with its own. */
  #wholeOf(key: string): Ask<V> | undefined {
    return [...this.#inOrder].find((ask) => ask.lead !== undefined && key.startsWith(ask.key))
  }

  /** The last ask of the asker before the load began. */
  #askOf(key: string, asker: object, begunAt = Infinity): Ask<V> | undefined {
    return this.#asks.get(key)?.findLast((ask) => ask.asker === asker && ask.at <= begunAt)
  }
}

function isNewer(begin: PathMoment, invalidated: PathMoment): boolean {
  return begin.log === invalidated.log && begin.number >= invalidated.number
}

function keepOf({ ttl, staleFor, tags, begunAt }: Handed<unknown>, askedAt: number) {
  const took = Math.max(0, clock() - (begunAt ?? askedAt))
  const staleWhileRevalidate = Math.min(LONGEST_WINDOW, Math.max(0, staleFor))
  return { took, keep: { ttl: Math.max(1, ttl - took), staleWhileRevalidate, tags: tagsOfEntry(tags) } }
}

/** True for a load that began so lately that an ask before it is remembered. */
export function isRemembered(begunAt: number): boolean {
  return clock() - begunAt < ASK_KEPT
}

/** As Next stamps its entries. */
export function clock(): number {
  return performance.timeOrigin + performance.now()
}

/** A duration of Next, in seconds, as ms. Without one, it has no end. */
export function milliseconds(seconds: number | false | undefined): number {
  return Math.min(typeof seconds === 'number' ? seconds * 1000 : Infinity, LONGEST_FRESH)
}
