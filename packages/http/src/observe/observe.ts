import type { Cache, ReadResult } from '@cattlegrid/core'
import { appendMember } from '../response/cache-status.ts'
import type { Exchange } from '../exchange.ts'
import { linesOf } from '../fields/header-fields.ts'
import type { RequestContext } from '../lookup/request-context.ts'
import { judgeResponse } from '../lookup/handler-recorder.ts'
import { varyRecordTtl } from '../lookup/load-result.ts'
import { type Observation, observedMember, publishObservation } from '../observation.ts'
import { addedVary } from '../response/recorded-fields.ts'
import { isVaryRecord, type RecordedResponse, type Stored, storedCodec } from '../response/recorded-response.ts'
import type { Recording } from '../capture/recording.ts'
import type { ResponseHead } from '../response/response-head.ts'
import type { Route } from '../route/route.ts'
import type { Judgement, Lifetime } from '../response/storable.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'

/** Stands for an answer that would have been stored: without a field or a byte of it, at a key that no serving route asks at. */
const TRACE: RecordedResponse = { status: 204, fields: {}, removed: [], body: Buffer.alloc(0), initialAge: 0 }

/** A handler that runs, and whose answer others would have waited for. */
interface Run {
  /** Nobody else could have had it. */
  refused: string | undefined
}

/** By the keys of their traces. */
const runs = new WeakMap<Cache, Map<string, Run>>()

/**
 * `mode: 'observe'`: the request is answered by its own handler, as if there were no cache, and what the cache would have done is told. Of an
 * answer that would have been stored a trace is kept, with its lifetime and its tags, so that the next request would have been a hit.
 */
export function observe<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>, context: RequestContext): void {
  new Observer(exchange, route, context).begin().catch(() => exchange.res.destroy())
}

class Observer<Req, Res> implements Recording {
  /** A write waits for its client, as ever. */
  readonly keeping = false
  readonly done: Promise<void> = Promise.resolve()
  readonly #exchange: Exchange<Req, Res>
  readonly #route: Route<Req, Res>
  readonly #context: RequestContext
  readonly #began: { readonly now: number; readonly timeOfDay: number }
  readonly #looked: Promise<void>
  /** Whether the client asked for a part, or for nothing new: what its handler makes of that is not what a leader's would have said. */
  readonly #partial: boolean
  #record: VaryRecord | undefined
  #key: string
  #found: ReadResult<Stored> | undefined
  #place: 'unknown' | 'hit' | 'stale' | 'alone' | 'joined' | 'first' = 'unknown'
  #run: Run | undefined
  /** Its own answer is the one that would have been kept. */
  #makes = false
  #head: ResponseHead | undefined
  #judgement: Judgement | undefined
  #size = 0
  #over = false

  constructor(exchange: Exchange<Req, Res>, route: Route<Req, Res>, context: RequestContext) {
    this.#exchange = exchange
    this.#route = route
    this.#context = context
    this.#key = `observed:${context.key}`
    this.#began = { now: route.runtime.now(), timeOfDay: route.runtime.timeOfDay() }
    const { headers } = exchange.req
    this.#partial = ['if-none-match', 'if-modified-since', 'range'].some((name) => headers[name] !== undefined)
    this.#looked = this.#look()
  }

  /** A store in this process is asked first, which takes no time; another one meanwhile, for it may be slow, or gone. */
  async begin(): Promise<void> {
    if (!this.#route.cache.shared) await this.#looked
    this.#exchange.run(this)
  }

  suppresses(): boolean {
    return false
  }

  /** Its handler sees its conditions. */
  answersNotModified(): undefined {
    return undefined
  }

  announces(head: ResponseHead): Readonly<Record<string, string>> {
    const { cacheStatus: name } = this.#route
    if (name === undefined || this.#place === 'unknown') return {}
    const member = observedMember(this.#would(this.#judge(head)))
    return { 'cache-status': appendMember(linesOf(head.fields, 'cache-status'), name, member) }
  }

  head(head: ResponseHead): void {
    if (this.#head !== undefined) return
    this.#head = head
    this.#judgement = this.#judge(head)
    if (this.#run !== undefined && this.#judgement.kind === 'own') this.#run.refused = this.#judgement.why
  }

  chunk(bytes: Uint8Array): void {
    this.#size += bytes.length
  }

  end(): void {
    if (this.#judgement?.kind === 'store' && this.#size > this.#route.storage.maxBodyBytes)
      this.#judgement = { kind: 'own', why: 'too-large' }
    void this.#conclude()
  }

  cutOff(): void {
    this.#judgement = { kind: 'own', why: 'incomplete' }
    void this.#conclude()
  }

  refuse(why: 'hijacked'): void {
    this.#judgement = { kind: 'own', why }
    void this.#conclude()
  }

  async #look(): Promise<void> {
    const { view } = this.#route
    try {
      this.#found = view.peek<Stored>(this.#key) ?? (await view.read<Stored>(this.#key))
      const record = this.#found?.value
      if (record !== undefined && isVaryRecord(record)) {
        this.#record = record
        this.#key = variantKey(this.#key, record, this.#exchange.req.headers)
        this.#found = view.peek<Stored>(this.#key) ?? (await view.read<Stored>(this.#key))
      }
    } catch {
      // Whatever is wrong with the cache is not to be seen by a client.
    }
    this.#takePlace()
  }

  #takePlace(): void {
    const { demand, unshareable } = this.#context
    const found = this.#found
    if (found?.state === 'fresh' && found.age <= (demand.maxAge ?? Infinity)) this.#place = 'hit'
    else if (found?.state === 'stale' && demand.maxAge === undefined) this.#place = 'stale'
    else if (unshareable) this.#place = 'alone'
    else this.#place = this.#running.has(this.#key) ? 'joined' : 'first'
    if (this.#place === 'joined') this.#run = this.#running.get(this.#key)
    const makes = this.#place === 'first' || (this.#place === 'stale' && !unshareable && !this.#running.has(this.#key))
    if (!makes) return
    this.#makes = true
    this.#run = { refused: undefined }
    this.#running.set(this.#key, this.#run)
  }

  get #running(): Map<string, Run> {
    const { cache } = this.#route
    const running = runs.get(cache) ?? new Map<string, Run>()
    runs.set(cache, running)
    return running
  }

  #judge(head: ResponseHead): Judgement {
    const { urlTag, authorized } = this.#context
    const known = { storedBefore: this.#found !== undefined, authorized, urlTag, began: this.#began.timeOfDay }
    return judgeResponse(this.#exchange, this.#route, known, this.#partial ? asWhole(head) : head)
  }

  #would(judgement: Judgement | undefined): Pick<Observation, 'would' | 'why'> {
    switch (this.#place) {
      case 'hit':
      case 'stale':
        return { would: this.#place, why: undefined }
      case 'joined':
        return this.#run?.refused === undefined
          ? { would: 'collapse', why: undefined }
          : { would: 'run', why: this.#run.refused }
      case 'alone':
        return { would: 'run', why: 'body' }
      case 'first':
      case 'unknown':
        if (judgement?.kind === 'store') return { would: 'store', why: undefined }
        return { would: 'run', why: judgement === undefined || judgement.kind === 'fail' ? 'status' : judgement.why }
    }
  }

  async #conclude(): Promise<void> {
    if (this.#over) return
    this.#over = true
    const { runtime } = this.#route
    const took = runtime.now() - this.#began.now
    await this.#looked
    if (this.#makes) await this.#leaveTrace().finally(() => this.#running.delete(this.#key))
    const { method = '' } = this.#exchange.req
    const { target } = this.#context
    publishObservation(() => ({ method, target, ...this.#would(this.#judgement), status: this.#head?.status, took }))
  }

  /** Never rejects. */
  async #leaveTrace(): Promise<void> {
    if (this.#judgement?.kind !== 'store') return
    const { lifetime } = this.#judgement
    const { keyed, runtime, variants, maxVariants, cache } = this.#route
    const names = addedVary(this.#head).filter((name) => !keyed.headers.includes(name))
    const base = `observed:${this.#context.key}`
    try {
      if (names.every((name) => this.#record?.vary.includes(name) === true))
        return await this.#keep(this.#key, lifetime)
      const record = { vary: names, id: runtime.token() }
      const variant = variantKey(base, record, this.#exchange.req.headers)
      const oldest = variants.add(record, variant, maxVariants)
      if (oldest !== undefined) await cache.delete(oldest)
      await this.#keep(variant, lifetime)
      await cache.set<Stored>(base, record, { ttl: varyRecordTtl(lifetime), codec: storedCodec, tags: lifetime.tags })
    } catch {
      // The store is away, or full: there will be less to foretell.
    }
  }

  async #keep(key: string, { ttl, staleWhileRevalidate, tags }: Lifetime): Promise<void> {
    const windows = { ttl, staleWhileRevalidate, staleIfError: 0, tags }
    await this.#route.cache.set<Stored>(key, TRACE, { ...windows, codec: storedCodec })
  }
}

/** A 304 has the fields of the 200 that it stands for (RFC 9110 section 15.4.5), and a 206 those of the whole. */
function asWhole(head: ResponseHead): ResponseHead {
  if (head.status !== 304 && head.status !== 206) return head
  const { 'content-range': _, ...fields } = head.fields
  return { ...head, status: 200, fields }
}
