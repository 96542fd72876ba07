import type { CallOptions, CallerSignal, Lookup } from '@cattlegrid/core'
import { satisfiesMaxAge } from '../response/age.ts'
import type { Forwarded } from '../response/cache-status.ts'
import { isNoSharedResult, NoSharedResult } from '../response/errors.ts'
import { awaitInlineRefresh, storedWithoutRefresh } from './inline-refresh.ts'
import { type Loaded, OWN_RESPONSE } from './loaded-response.ts'
import type { Miss } from './miss.ts'
import { isUsable, isVaryRecord, type RecordedResponse } from '../response/recorded-response.ts'
import type { RequestContext } from './admission.ts'
import type { ResponseLoader } from './response-loader.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'

/** A request that still has no response after so many rounds runs its own handler. */
const MAX_ROUNDS = 16

/** The miss of the key of a URL. */
const URL_MISS: Miss = { record: undefined, forwarded: 'uri-miss', collapseFailed: false }

/** The options of a lookup that may not return a stale response. */
const NOTHING_STALE = { staleWhileRevalidate: false, staleIfError: false } as const

/** A lookup that brought no record of variants. */
type Responded = Lookup<RecordedResponse | typeof OWN_RESPONSE>

/** The result of a request's lookups: a response, or the error with which the last lookup ended. */
export interface RequestResult {
  readonly lookup?: Responded
  readonly error?: unknown
}

/** The lookups of one request. Where the request leads, its loader brings the response. */
export class RequestLookup {
  readonly #context: RequestContext
  readonly #loader: ResponseLoader
  readonly #options: CallOptions<Loaded>
  /**
   * The greatest age that is taken, ms. A request that is chosen for an audit takes nothing that is stored.
   */
  readonly #maxAge: number | undefined
  #forwarded: Forwarded = 'uri-miss'
  #key: string

  constructor(context: RequestContext, loader: ResponseLoader, signal: CallerSignal) {
    this.#context = context
    this.#loader = loader
    this.#key = context.key
    // A client that gives a max-age and no max-stale takes no stale response (RFC 9111 section 5.2.1.1).
    this.#maxAge = context.sampled === true ? 0 : context.directives.maxAge
    this.#options = this.#maxAge === undefined ? { signal } : { signal, staleWhileRevalidate: false }
  }

  /** Why no stored response was served at once, as far as the lookups have shown. */
  get forwarded(): Forwarded {
    return this.#forwarded
  }

  /** The key that was looked up last: that of the URL, or of a variant. */
  get key(): string {
    return this.#key
  }

  /**
   * Looks up the key of the URL; where that holds a record of variants, the key of this request's variant.
   * Looks up again when a leader had no result for its followers: one of them leads next. Never rejects.
   */
  async run(): Promise<RequestResult> {
    const loader = this.#loader
    for (let round = 1; ; round += 1) {
      try {
        const ofUrl = await this.#lookUpWithinMaxAge(this.#context.key, URL_MISS)
        return { lookup: isOfRecord(ofUrl) ? await this.#lookUpVariant(ofUrl) : (ofUrl as Responded) }
      } catch (error) {
        const hasLed = loader.ownHandlerAnswers || loader.subrequestFailed
        const cannotLead = hasLed || loader.cannotRecord || loader.isAnswered
        const endsHere = cannotLead || loader.unshareable !== undefined
        if (endsHere || round === MAX_ROUNDS || !isNoSharedResult(error)) return { error }
      }
    }
  }

  async #lookUpVariant(ofUrl: Lookup<VaryRecord>): Promise<Responded> {
    const { value: record } = ofUrl
    // The handler's own response goes to this client; the record serves other requests only.
    const { ownHandlerAnswers, storable } = this.#loader
    if (ownHandlerAnswers) return { ...ofUrl, value: OWN_RESPONSE, freshFor: storable?.ttl ?? ofUrl.freshFor }
    this.#loader.selectBy(record.vary)
    const forwardedByUrl = this.#forwarded
    const miss: Miss = { record, forwarded: 'vary-miss', collapseFailed: ofUrl.role === 'follower' }
    const key = variantKey(this.#context.key, record, this.#context.exchange.headers)
    const ofVariant = await this.#lookUpWithinMaxAge(key, miss)
    // The leader that wrote the record loaded this variant, too.
    const collapsed = ofUrl.status === 'loaded' && ofVariant.status === 'fresh'
    if (collapsed) this.#forwarded = forwardedByUrl
    return {
      ...ofVariant,
      value: ofVariant.value as RecordedResponse | typeof OWN_RESPONSE,
      ...(collapsed ? ({ status: 'loaded', role: 'follower' } as const) : {}),
      waited: ofUrl.waited + ofVariant.waited,
    }
  }

  /**
   * Looks up a key; where its response is older than the client accepts, once more, so that a load replaces
   * it. A record of variants has no age.
   */
  #lookUpWithinMaxAge(key: string, miss: Miss): Promise<Lookup<Loaded>> {
    const maxAge = this.#maxAge
    const lookingUp = this.#lookUp(key, miss, this.#options)
    return maxAge === undefined ? lookingUp : this.#replaceOlder(lookingUp, maxAge, key, miss)
  }

  async #replaceOlder(
    lookingUp: Promise<Lookup<Loaded>>,
    maxAge: number,
    key: string,
    miss: Miss,
  ): Promise<Lookup<Loaded>> {
    const lookup = await lookingUp
    const { value, status, role, age } = lookup
    if (value === OWN_RESPONSE || isVaryRecord(value) || status !== 'fresh' || role !== 'none') return lookup
    if (satisfiesMaxAge(value.initialAge, age, maxAge)) return lookup
    // The engine counts from the commit.
    const maxResidentTime = Math.max(0, maxAge - value.initialAge * 1000)
    return await this.#lookUp(key, { ...miss, forwarded: 'request' }, { ...this.#options, maxAge: maxResidentTime })
  }

  async #lookUp(key: string, miss: Miss, options: CallOptions<Loaded>): Promise<Lookup<Loaded>> {
    const { view, refreshMode } = this.#context.route
    const loader = this.#loader
    this.#forwarded = miss.forwarded
    this.#key = key
    const takesAnyAge = this.#maxAge === undefined
    const stored = takesAnyAge && !loader.canRefresh ? await storedWithoutRefresh(this.#context.route, key) : undefined
    if (stored !== undefined) return stored
    const ask = (accepted: CallOptions<Loaded>): Promise<Lookup<Loaded>> =>
      view.lookup<Loaded, never>(key, (load) => loader.load(load, miss), accepted)
    const found = await ask(options)
    if (found.foundStale) this.#forwarded = 'stale'
    // A response that is kept only to be revalidated is served by nobody: the request waits for the load that
    // replaces it.
    const lookup = mayServe(found) ? found : await ask({ ...options, ...NOTHING_STALE })
    if (!mayServe(lookup)) throw new NoSharedResult('the response must be revalidated before each use')
    if (refreshMode.inline) await awaitInlineRefresh(this.#context.route, loader, key, lookup)
    return lookup
  }
}

/**
 * False for a response that is kept only to be revalidated, unless this request's own load has just
 * brought it.
 */
function mayServe({ value, status, role, age }: Lookup<Loaded>): boolean {
  return (
    value === OWN_RESPONSE || isVaryRecord(value) || isUsable(value, age) || (status === 'loaded' && role === 'leader')
  )
}

function isOfRecord(lookup: Lookup<Loaded>): lookup is Lookup<VaryRecord> {
  return lookup.value !== OWN_RESPONSE && isVaryRecord(lookup.value)
}
