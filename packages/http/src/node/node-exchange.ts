import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from '../response/answer.ts'
import { ownListener } from './capture/close-listeners.ts'
import { watchSentBody } from './capture/left-body.ts'
import type { OuterBodies } from '../recorder/outer-bodies.ts'
import { keepPropertiesInTable } from './capture/property-table.ts'
import type { Recording } from '../recorder/recording.ts'
import { replaceMethods } from './capture/response-methods.ts'
import type { ClientSignal, Exchange, PassedError } from '../road/exchange.ts'
import { addToHead, parseHead } from '../fields/head-arguments.ts'
import type { FieldValue, HeaderFields } from '../fields/header-fields.ts'
import { isHeadSent } from '../fields/response-state.ts'
import { ClientDisconnect } from './client-disconnect.ts'
import type { SendSubrequest, SubrequestMarker } from '../road/subrequest.ts'
import { anotherClient, connectionOf } from './subrequest/connection.ts'
import { sendSubrequest, subrequestMarkerOf } from './subrequest/subrequest.ts'
import { delayEnd } from './delayed-end.ts'
import type { ClientReads, PersonalReadRule } from '../request/client-reads.ts'
import type { HandlerInput } from '../request/handler-input.ts'
import { hasReplaceableFields, normaliseRequest, replaceFields } from './normalise.ts'
import { countAllowedReads, PersonalReads } from './personal-reads.ts'
import type { MatchedRoute } from '../request/request-key.ts'
import { type Ambiguity, ambiguityIn } from '../request/single-fields.ts'
import type { UrlRewrite } from './url-rewrite.ts'
import { NoSharedResult } from '../response/errors.ts'
import { forgetPassedError, judgePassedError } from '../response/passed-errors.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { type GivenDirectives, givenDirectives } from '../response/response-directives.ts'
import type { Judgement } from '../response/storable.ts'

/**
 * One request and its response over `node:http`, as an adapter translates them for its framework. The adapter
 * decides nothing: its fields state facts, and its methods do what they say. What a handler throws goes to
 * the framework's error handling; `send` and `fail` throw only what an outer layer throws before the first
 * byte. `describeAdapterContract` of the testkit checks every adapter.
 *
 * @example
 * import { NodeExchange } from '@cattlegrid/http'
 *
 * abstract class AppExchange extends NodeExchange {
 *   override get scheme() {
 *     return 'https'
 *   }
 * }
 */
export abstract class NodeExchange<Request = unknown, Response = unknown> implements Exchange<Request, Response> {
  abstract readonly request: Request
  abstract readonly response: Response
  abstract readonly req: IncomingMessage
  abstract readonly res: ServerResponse
  abstract readonly scheme: string
  abstract readonly host: string
  abstract readonly target: string
  abstract readonly place: string
  abstract readonly decodesPath: boolean
  readonly routingFields: Readonly<Record<string, string>> | undefined = undefined

  get routed(): string | undefined {
    return undefined
  }

  get pattern(): string | undefined {
    return undefined
  }

  get matched(): MatchedRoute | undefined {
    return undefined
  }

  get ownSerializer(): boolean {
    return false
  }

  /**
   * Where middleware of the framework keeps its user, session and the like, if that is neither `request` nor
   * `req`: reads of these count as personal.
   */
  get state(): object | undefined {
    return undefined
  }

  /**
   * True if layers outside may replace the body of a response by other means than its `write` and `end`, as
   * hooks. Default: false.
   */
  get replacesBodies(): boolean {
    return false
  }

  /**
   * Rewrites the URL wherever the handler may read it: raw, original, parsed. A parsed query becomes what the
   * app's own parser makes of the rewritten URL. Returns a function that undoes it; undefined where it cannot
   * be done, and then changes nothing.
   */
  abstract rewriteUrl(rewrite: UrlRewrite): (() => void) | undefined
  abstract field(name: string): FieldValue | undefined
  abstract pass(): void
  abstract run(recording: Recording): void
  abstract send(answer: Answer): void
  abstract fail(error: PassedError): void

  /**
   * Sends a subrequest into the root of the application. Called where the request came without a server,
   * injected or from a serverless platform, or its server has no `request` listener.
   */
  abstract dispatch(req: IncomingMessage, res: ServerResponse): void

  get method(): string {
    return this.req.method ?? ''
  }

  get originalMethod(): string | undefined {
    const { originalMethod } = this.req as { readonly originalMethod?: unknown }
    return typeof originalMethod === 'string' ? originalMethod : undefined
  }

  get headers(): IncomingHttpHeaders {
    return this.req.headers
  }

  get subrequest(): SubrequestMarker | undefined {
    return subrequestMarkerOf(this.req)
  }

  get given(): GivenDirectives {
    return givenDirectives(this.res)
  }

  get hasReplaceableFields(): boolean {
    return hasReplaceableFields(this.req)
  }

  get isAnswered(): boolean {
    return isHeadSent(this.res)
  }

  get status(): number {
    return this.res.statusCode
  }

  ambiguityIn(names: readonly string[], cookies?: readonly string[]): Ambiguity | undefined {
    return ambiguityIn(this.req, names, cookies)
  }

  canRewrite(url: (url: string) => string): boolean {
    const undo = this.rewriteUrl({ url })
    undo?.()
    return undo !== undefined
  }

  /**
   * Outer access logs, whose `finish` listeners run later, see the real URL. If the client disconnects first,
   * the URL stays rewritten: the handler may still produce the shared response.
   */
  rewriteUntilEnd(url: (url: string) => string): (() => void) | undefined {
    const undo = this.rewriteUrl({ url })
    if (undo !== undefined) this.res.prependOnceListener('finish', undo)
    return undo
  }

  show(input: HandlerInput): void {
    const { rewrite } = input
    if (rewrite !== undefined && this.rewriteUntilEnd(rewrite) === undefined)
      throw new NoSharedResult('the URL cannot be rewritten')
    const replaced = normaliseRequest(this.req, input)
    this.fieldsReplaced?.(replaced)
  }

  replaceFields(replaced: ReadonlyMap<string, string | undefined>): void {
    replaceFields(this.req, replaced)
    this.fieldsReplaced?.([...replaced.keys()])
  }

  watchReads(rule: PersonalReadRule): ClientReads {
    // Reads are watched, and the response captured, by properties of these.
    keepPropertiesInTable(this.req, 'rawHeaders')
    keepPropertiesInTable(this.res, 'sendDate')
    forgetPassedError(this.req)
    return new PersonalReads(this, rule)
  }

  countAllowedReads(rule: PersonalReadRule): void {
    countAllowedReads(this.req, rule)
  }

  judgePassedError(status: number, judgement: Judgement): Judgement {
    return judgePassedError(this.req, status, judgement)
  }

  subrequests(): SendSubrequest {
    const connection = connectionOf(this.req)
    return (subrequest) =>
      sendSubrequest({
        ...subrequest,
        connection: subrequest.anotherClient ? anotherClient(connection) : connection,
        dispatch: (req, res) => this.dispatch(req, res),
      })
  }

  addFields(make: (fields: HeaderFields) => Readonly<Record<string, string>>): void {
    const { res } = this
    let isAdded = false
    const original = replaceMethods(res, {
      writeHead: (...args) => {
        if (isAdded) return original('writeHead', args)
        isAdded = true
        return original('writeHead', addToHead(res, args, make(parseHead(res, args).fields)))
      },
    })
  }

  destroy(): void {
    this.res.destroy()
  }

  watchBody(bodies: OuterBodies, { fields }: RecordedResponse, body: Buffer): void {
    if (bodies.kept !== false) watchSentBody(this.res, this.replacesBodies, bodies, fields, body)
  }

  onClose(listener: () => void): void {
    this.res.once('close', ownListener(listener))
  }

  watchClient(): ClientSignal {
    return new ClientDisconnect(this.res)
  }

  delayEnd(beforeEnd: (fields: HeaderFields) => Promise<void>): void {
    delayEnd(this.res, beforeEnd)
  }

  /**
   * Called when the cache has replaced or removed these request fields in `req`: a copy of them that the
   * framework keeps must not show the old ones.
   */
  protected fieldsReplaced?(names: readonly string[]): void
}
