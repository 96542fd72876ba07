import type { CallOptions, Load } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import { failedSubrequestsOf } from './failed-subrequests.ts'
import type { Forwarded } from '../response/cache-status.ts'
import { conditionsOf } from '../response/conditional.ts'
import { NoSharedResult, isNoSharedResult } from '../response/errors.ts'
import { type Exchange, reshapeUntilEnd } from '../exchange.ts'
import {
  keepAnswer,
  type Kept,
  lifeOfRecord,
  recorderFor,
  resultOfHandler,
  resultOfSubrequest,
  uncacheableFor,
} from './load-result.ts'
import { registerLoad, cdnLoopField } from '../request/loop-detection.ts'
import { normalHost, normaliseLeader } from '../request/normalise.ts'
import { nominatedFields } from './nominated-fields.ts'
import { isKept } from '../request/query.ts'
import { isVaryRecord, type RecordedResponse, type Stored } from '../response/recorded-response.ts'
import type { Recorder } from '../capture/recorder.ts'
import { validatorsOf } from '../response/revalidate.ts'
import type { RequestContext } from './request-context.ts'
import { type ReleasedKeys, releasedKeysOf } from './released-keys.ts'
import type { Route } from '../route/route.ts'
import { sendSubrequest } from './subrequest.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'

/** What came of a load, and the request fields that its handler was shown. */
interface Produced {
  readonly settled: Kept | RecordedResponse
  readonly shown: IncomingHttpHeaders
}

/** The part of a visit that may have to make the answer: at most one run of its own handler, whichever key leads to it. */
export class Leader<Req, Res> {
  readonly #exchange: Exchange<Req, Res>
  readonly #route: Route<Req, Res>
  readonly #context: RequestContext
  readonly #options: CallOptions<Stored>
  readonly #releasedKeys: ReleasedKeys
  readonly #mark: number
  #madeName: string | undefined
  #declined = false
  #keptFor: string | undefined
  #recorder: Recorder | undefined
  /** Its client has been answered: its handler may not run any more. */
  answered = false
  /** It waited for a record of variants, and none of them is its own. */
  waited = false
  /** Ends the wait for its own handler. */
  #began: (() => void) | undefined

  constructor(
    exchange: Exchange<Req, Res>,
    route: Route<Req, Res>,
    context: RequestContext,
    options: CallOptions<Stored>,
  ) {
    this.#exchange = exchange
    this.#route = route
    this.#context = context
    this.#options = options
    this.#releasedKeys = releasedKeysOf(route.cache)
    this.#mark = this.#releasedKeys.mark
  }

  /** Takes down this request's own handler, once it leads. */
  get recorder(): Recorder | undefined {
    return this.#recorder
  }

  /** Of its loads, for requests that come from their handlers. Most visits have no load. */
  get #name(): string {
    this.#madeName ??= this.#route.runtime.token()
    return this.#madeName
  }

  /** Resolves once this request's own handler runs; for one wait at a time. */
  begun(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#recorder === undefined) this.#began = resolve
      else resolve()
    })
  }

  /** The key for which its handler gave what could be kept. */
  get keptFor(): string | undefined {
    return this.#keptFor
  }

  /** It was to lead, and had nothing for the others. */
  get declined(): boolean {
    return this.#declined
  }

  /**
   * Loads the URL's own key, or with `record` that of a variant. Learning that a URL varies is a nested look-up: the variant has a lease of its
   * own, and is out of reach unless the record is committed after it.
   */
  async load(load: Load<never>, record?: VaryRecord): Promise<Stored> {
    const endLoop = registerLoad(this.#name, this.#context.key)
    const { settled, shown } = await this.#inTurn(load, () => this.#produce(load, record))
      .finally(endLoop)
      .catch((error: unknown) => {
        if (isNoSharedResult(error)) this.#release(load)
        throw error
      })
    if (!('kind' in settled)) return settled
    this.#keptFor = load.key
    const { lifetime, vary } = settled
    const { revalidate, keyed } = this.#route
    const names = vary.filter((name) => !keyed.headers.includes(name))
    if (record !== undefined) return this.#variant(load, settled, names, record)
    if (names.length === 0) return keepAnswer(load, settled, revalidate)
    const made = { vary: names, id: this.#route.runtime.token() }
    const key = variantKey(this.#context.key, made, shown)
    this.#note(made, key)
    await this.#route.cache.lookup<Stored, never>(key, (inner) => keepAnswer(inner, settled, revalidate), this.#options)
    load.keep({ ttl: lifeOfRecord(lifetime), staleWhileRevalidate: 0, staleIfError: 0, tags: lifetime.tags })
    return made
  }

  /** What chose this variant is more than its record knows: the record goes, and whoever comes next learns anew. */
  async #variant(
    load: Load<never>,
    kept: Kept,
    names: readonly string[],
    record: VaryRecord,
  ): Promise<RecordedResponse> {
    if (names.some((name) => !record.vary.includes(name))) {
      await this.#route.cache.delete(this.#context.key).catch(() => undefined)
      throw new NoSharedResult('it varies by more than was known')
    }
    this.#note(record, load.key)
    return keepAnswer(load, kept, this.#route.revalidate)
  }

  #note(record: VaryRecord, key: string): void {
    const { variants, maxVariants, cache } = this.#route
    const oldest = variants.add(record, key, maxVariants)
    if (oldest !== undefined) cache.delete(oldest).catch(() => undefined)
  }

  async #inTurn<T>(load: Load<never>, produce: () => Promise<T>): Promise<T> {
    const { handlerLimit } = this.#route
    if (handlerLimit === undefined) return await produce()
    if (load.background && handlerLimit.full) throw new NoSharedResult('the route runs as many handlers as it may')
    const end = await handlerLimit.take(load.signal)
    return await produce().finally(end)
  }

  async #produce(load: Load<never>, record: VaryRecord | undefined): Promise<Produced> {
    const { req } = this.#exchange
    const inline = load.background && this.#route.refresh === 'inline'
    if (inline && (this.answered || this.#cannotRun)) throw new NoSharedResult('its client is no part of this refresh')
    if (load.background && !inline) return await this.#fromSubrequest(load, record)
    if (this.#recorder !== undefined || this.#declined) throw new NoSharedResult('its handler has run')
    if (!this.#cannotRun) {
      const recorded = await this.#runHandler(load, record)
      if (recorded.kind === 'outdated') return await this.#anew(load, record)
      // Nothing shows yet that what this URL answers is for everybody: that it broke off cools nobody down.
      const own =
        load.stale === undefined && this.#route.ttl(this.#exchange.request, this.#exchange.response) === undefined
      if (uncacheableFor(recorded, own) > 0) this.#release(load)
      return { settled: resultOfHandler(recorded, load, req.headers, own), shown: req.headers }
    }
    this.#declined = true
    if (this.#context.unshareable) throw new NoSharedResult('its handler sees more than the key holds')
    const { cache, runtime } = this.#route
    const produced = await failedSubrequestsOf(cache).skipOr(load.key, runtime, () =>
      this.#fromSubrequest(load, record),
    )
    this.#declined = false
    return produced
  }

  /** Noted before they are let go. For a load without a lease nobody waits. */
  #release({ key, leased }: Load<never>): void {
    if (leased) this.#releasedKeys.note(key)
  }

  /** The stored answer and its validators are worth nothing any more: asks for the whole, and where there is none forgets it. */
  async #anew(load: Load<never>, record: VaryRecord | undefined): Promise<Produced> {
    try {
      return await this.#fromSubrequest(load, record, false)
    } catch (error) {
      await this.#route.cache.delete(load.key).catch(() => undefined)
      throw error
    }
  }

  get #cannotRun(): boolean {
    return this.#context.unshareable || this.#exchange.req.method === 'HEAD'
  }

  #runHandler(load: Load<never>, record: VaryRecord | undefined): Recorder['done'] {
    const exchange = this.#exchange
    const { urlTag, authorized } = this.#context
    const proven = load.stale !== undefined
    const revalidates = this.#revalidates(load)
    const recorder = recorderFor(exchange, this.#route, {
      holdsStale: isUsable(load),
      leased: load.leased,
      conditions: conditionsOf(exchange.req.headers),
      proven,
      authorized,
      urlTag,
      revalidates,
      forwarded: this.#forwarded(proven, record),
      waited: this.waited || this.#releasedKeys.since(load.key, this.#mark),
    })
    load.signal.addEventListener('abort', () => recorder.abandon(), { once: true })
    this.#normalise(revalidates)
    // From here on the handler is to answer: whatever fails before, the request is still ours to answer.
    this.#recorder = recorder
    this.#began?.()
    exchange.run(recorder)
    return recorder.done
  }

  #forwarded(stale: boolean, record: VaryRecord | undefined): Forwarded {
    if (this.#context.demand.maxAge !== undefined) return 'request'
    if (stale) return 'stale'
    return record === undefined ? 'uri-miss' : 'vary-miss'
  }

  /** The stored answer that the handler is asked to revalidate, if it has validators. */
  #revalidates(load: Load<never>): RecordedResponse | undefined {
    const stale = staleAnswer(load)
    return this.#route.revalidate && stale !== undefined && Object.keys(validatorsOf(stale)).length > 0
      ? stale
      : undefined
  }

  #normalise(revalidates: RecordedResponse | undefined): void {
    const exchange = this.#exchange
    const { query, hidden } = this.#route
    const validators = revalidates === undefined ? {} : validatorsOf(revalidates)
    const given = { ...validators, ...cdnLoopField(exchange.req.headers, this.#name) }
    const { host, scheme, target, routed = target } = exchange
    normaliseLeader(exchange.req, { host, scheme, hidden, given })
    const { shape: url } = this.#context
    if (query.kind === 'all' && [target, routed].every((seen) => url(seen) === seen)) return
    reshapeUntilEnd(exchange, { url, keeps: query.kind === 'all' ? undefined : (name) => isKept(name, query) })
  }

  async #fromSubrequest(
    load: Load<never>,
    record: VaryRecord | undefined,
    conditional: boolean = true,
  ): Promise<Produced> {
    const { layer, scheme, host, req } = this.#exchange
    const headers = nominatedFields(req.headers, this.#route, record)
    const revalidates = conditional ? this.#revalidates(load) : undefined
    const returned = await sendSubrequest({
      layer,
      scheme,
      host: normalHost(scheme, host),
      headers: { ...headers, ...(revalidates && validatorsOf(revalidates)), ...cdnLoopField({}, this.#name) },
      revalidates,
      target: this.#context.shape(this.#context.target),
      signal: load.signal,
      origin: req,
      scope: this.#route.scope,
      dispatch: (subReq, subRes) => this.#exchange.dispatch(subReq, subRes),
    })
    if (returned.kind === 'outdated') return await this.#anew(load, record)
    return { settled: resultOfSubrequest(returned, load), shown: headers }
  }
}

function staleAnswer({ stale }: Load): RecordedResponse | undefined {
  const value = stale?.value as Stored | undefined
  return value === undefined || isVaryRecord(value) ? undefined : value
}

/** Whether a stale answer is at hand that may take the place of a failure. */
function isUsable(load: Load): boolean {
  const stale = staleAnswer(load)
  return stale !== undefined && (load.stale?.age ?? 0) < (stale.usableFor ?? Infinity)
}
