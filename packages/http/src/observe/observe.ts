import { initialAge } from '../response/age.ts'
import { observedVerdict } from '../response/cache-status.ts'
import { reportFields } from '../response/report-fields.ts'
import { linesOf } from '../fields/header-fields.ts'
import type { RequestContext } from '../road/admission.ts'
import { judgeResponse } from '../road/handler-recorder.ts'
import { publishObservation } from '../road/observation.ts'
import { noteVerdict } from '../road/request-report.ts'
import type { ClientReads } from '../request/client-reads.ts'
import { selectingNames } from '../response/recorded-fields.ts'
import type { Recording } from '../recorder/recording.ts'
import type { ResponseHead } from '../response/response-head.ts'
import type { Judgement } from '../response/storable.ts'
import { ObservedLookup, type TracedResponse } from './observed-lookup.ts'
import { outcomeOf } from './role.ts'

/**
 * `mode: 'observe'`: the request runs its own handler, as if there were no cache, and the observer reports
 * what the cache would have done. Where the response would have been stored, it stores a trace, so that the
 * next request counts as a hit.
 */
export function observe(context: RequestContext): void {
  new Observer(context).begin().catch(() => context.exchange.destroy())
}

class Observer implements Recording {
  /** Nothing is recorded: a write waits for its client. */
  readonly copying = false
  readonly done: Promise<void> = Promise.resolve()
  readonly #context: RequestContext
  readonly #start: { readonly now: number; readonly timeOfDay: number }
  readonly #lookup: ObservedLookup
  /**
   * True if the request has conditions or a range: its handler may answer 304 or 206, where a leader's
   * handler would not see them.
   */
  readonly #partial: boolean
  readonly #reads: ClientReads
  #head: ResponseHead | undefined
  #judgement: Judgement | undefined
  #size = 0
  #concluded = false

  constructor(context: RequestContext) {
    const { exchange, route } = context
    this.#context = context
    this.#start = { now: route.runtime.now(), timeOfDay: route.runtime.timeOfDay() }
    const { headers } = exchange
    this.#partial = ['if-none-match', 'if-modified-since', 'range'].some((name) => headers[name] !== undefined)
    this.#reads = exchange.watchReads(route.personalReads)
    this.#lookup = new ObservedLookup(context, (call) => this.outside(call))
    const onClose = (): void => {
      if (!this.#concluded) this.#lookup.close()
    }
    exchange.onClose(onClose)
  }

  /**
   * A store in this process is read before the handler runs. A shared store is read meanwhile: it may be slow
   * or away.
   */
  async begin(): Promise<void> {
    if (!this.#context.route.cache.shared) await this.#lookup.done
    this.#context.exchange.run(this)
  }

  withholds(): boolean {
    return false
  }

  /** The handler sees the conditions itself. */
  answersNotModified(): undefined {
    return undefined
  }

  extraFields(head: ResponseHead): Readonly<Record<string, string>> {
    const { role, run } = this.#lookup
    if (role === 'unknown') return {}
    const verdict = observedVerdict(outcomeOf(role, run, this.#judge(head), this.#context))
    noteVerdict(this.#context.exchange, verdict)
    return reportFields(this.#context.route, (name) => linesOf(head.fields, name), { verdict })
  }

  handedOver(): void {
    this.#reads.pause()
  }

  streamRead(): void {
    this.#reads.resume()
  }

  outside<T>(call: () => T): T {
    return this.#reads.outside(call)
  }

  head(head: ResponseHead): void {
    this.#reads.resume()
    if (this.#head !== undefined) return
    this.#head = head
    this.#judgement = this.#judge(head)
    const { run } = this.#lookup
    if (run !== undefined && this.#judgement.kind === 'unshareable') run.refused = this.#judgement.why
  }

  chunk(bytes: Uint8Array): void {
    this.#size += bytes.length
  }

  restartBody(): void {
    this.#size = 0
  }

  end(): void {
    if (this.#judgement?.kind === 'store') {
      if (this.#reads.found !== undefined) this.#judgement = { kind: 'unshareable', why: 'personal' }
      if (this.#size > this.#context.route.storage.maxBodyBytes)
        this.#judgement = { kind: 'unshareable', why: 'too-large' }
    }
    void this.#conclude()
  }

  abort(): void {
    this.#judgement = { kind: 'unshareable', why: 'incomplete' }
    void this.#conclude()
  }

  markUnshareable(why: 'hijacked' | 'personal'): void {
    this.#judgement = { kind: 'unshareable', why }
    void this.#conclude()
  }

  #judge(head: ResponseHead): Judgement {
    const { urlTag, unkeyedCredentials } = this.#context
    const facts = { storedBefore: this.#lookup.storedBefore, unkeyedCredentials, urlTag }
    const run = { began: this.#start.timeOfDay, reads: this.#reads }
    return judgeResponse(this.#context.exchange, this.#context.route, facts, run, this.#partial ? asWhole(head) : head)
  }

  async #conclude(): Promise<void> {
    if (this.#concluded) return
    this.#concluded = true
    this.#reads.stop()
    const { runtime } = this.#context.route
    const took = runtime.now() - this.#start.now
    await this.#lookup.done
    await this.#lookup.end(this.#traced())
    const { target, exchange } = this.#context
    const outcome = outcomeOf(this.#lookup.role, this.#lookup.run, this.#judgement, this.#context)
    publishObservation(() => ({ method: exchange.method, target, ...outcome, status: this.#head?.status, took }))
  }

  /** The response, if it would have been stored. */
  #traced(): TracedResponse | undefined {
    const head = this.#head
    if (head === undefined || this.#judgement?.kind !== 'store') return undefined
    return {
      names: selectingNames(head, this.#context.route.ignoreVary),
      lifetime: this.#judgement.lifetime,
      initialAge: initialAge(head.fields, this.#context.route.runtime.timeOfDay(), this.#start.timeOfDay),
    }
  }
}

/** The head of the whole 200: a 304 and a 206 have its fields (RFC 9110 sections 15.4.5 and 15.3.7). */
function asWhole(head: ResponseHead): ResponseHead {
  if (head.status !== 304 && head.status !== 206) return head
  const { 'content-range': _, ...fields } = head.fields
  return { ...head, status: 200, fields }
}
