import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { processWide } from '@cattlegrid/core/extend'
import { type Answer, sendAnswer } from '../response/answer.ts'
import { type Capture, captureResponse } from './capture/capture.ts'
import type { PassedError } from '../road/exchange.ts'
import { NodeExchange } from './node-exchange.ts'
import type { FieldValue } from '../fields/header-fields.ts'
import type { HttpCache } from '../route/http-cache.ts'
import { purgeEndpoint } from '../purge/purge.ts'
import type { PurgeOptions } from '../route/options.ts'
import { notePassedError } from '../response/passed-errors.ts'
import type { Recording } from '../recorder/recording.ts'
import { directivesOf } from '../response/response-directives.ts'
import { type QueryParser, rewriteRequestUrl, type UrlRewrite } from './url-rewrite.ts'

/** A middleware of Connect, Express, Polka and the like. */
export type NodeMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void

/**
 * Node's request as these frameworks pass it on: inside a mount point, `url` lacks the path of the mount
 * point, and `originalUrl` has it.
 */
interface MiddlewareRequest extends IncomingMessage {
  originalUrl?: string | undefined
}

/**
 * For each request, the number of caching places that it has passed: an outer and an inner one of the same
 * URL have separate entries.
 */
const depths = processWide('depths/1', () => new WeakMap<IncomingMessage, number>())

/**
 * The exchange of a middleware over `node:http`. An adapter adds `dispatch`, and overrides what its framework
 * defines differently: by default no forwarded field is trusted. The handlers get their `ResponseDirectives`
 * as `res.cattlegrid`.
 *
 * @example
 * import { MiddlewareExchange } from '@cattlegrid/http'
 * import type { IncomingMessage, ServerResponse } from 'node:http'
 *
 * class AppExchange extends MiddlewareExchange {
 *   dispatch(request: IncomingMessage, response: ServerResponse): void {
 *     app(request, response)
 *   }
 * }
 */
export abstract class MiddlewareExchange<
  Req extends MiddlewareRequest = IncomingMessage,
  Request = Req,
  Response = ServerResponse,
> extends NodeExchange<Request, Response> {
  readonly req: Req
  readonly res: ServerResponse
  readonly place: string
  readonly decodesPath: boolean = false
  readonly #next: (error?: unknown) => void
  #capture: Capture | undefined

  /**
   * `place`: the number or the name of the place that caches; a name must not begin with `@`, which marks a
   * place inside another.
   */
  constructor(req: Req, res: ServerResponse, next: (error?: unknown) => void, place: number | string) {
    super()
    this.req = req
    this.res = res
    const depth = depths.get(req)
    this.place = depth === undefined ? String(place) : `@${depth} ${place}`
    this.#next = next
  }

  /** An adapter whose users know requests and responses by other objects than Node's overrides both. */
  get request(): Request {
    return this.req as unknown as Request
  }

  get response(): Response {
    return this.res as unknown as Response
  }

  get scheme(): string {
    return (this.req.socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http'
  }

  get host(): string {
    const { host, ':authority': authority = '' } = this.req.headers
    return host ?? String(authority)
  }

  get target(): string {
    return this.req.originalUrl ?? this.req.url ?? ''
  }

  override get routed(): string {
    return this.req.url ?? ''
  }

  field(name: string): FieldValue | undefined {
    // What a handler has set since is not that of the layers outside.
    return this.#capture === undefined ? this.res.getHeader(name) : this.#capture.before[name]
  }

  rewriteUrl(rewrite: UrlRewrite): (() => void) | undefined {
    // For an absolute target, the router cuts the mount path out of the middle of `req.url`: that is no URL
    // to rewrite.
    if (!this.target.startsWith('/') && this.isMounted) return undefined
    return rewriteRequestUrl(this.req, rewrite, this.parseQuery)
  }

  pass(): void {
    this.#runHandler()
  }

  run(recording: Recording): void {
    this.#capture = captureResponse(this.req, this.res, recording)
    this.#capture.run(() => this.#runHandler())
  }

  send(answer: Answer): void {
    if (this.#capture === undefined) return sendAnswer(this.res, answer)
    this.onReplaced?.()
    this.#capture.send(answer)
  }

  fail(error: PassedError): void {
    if (this.#capture !== undefined) {
      this.onReplaced?.()
      this.#capture.reopen()
    }
    this.#continue(error)
  }

  /** See `Capture.handOver`. Does nothing where the handler is not recorded. */
  protected handOver(payload: unknown): unknown {
    return this.#capture === undefined ? payload : this.#capture.handOver(payload)
  }

  /**
   * Call it where the handler has thrown, or passes an error on: what the error handling answers then is no
   * page, whatever its status.
   */
  protected noteError(error: unknown): void {
    notePassedError(this.req, error)
  }

  /**
   * The parser of which `req.query` is the result, if the framework has that property. Default: `parse` of
   * `node:querystring`.
   */
  protected get parseQuery(): QueryParser | undefined {
    return undefined
  }

  /** Called before another response is sent in the place of the handler's. */
  protected onReplaced?(): void

  /**
   * True inside a mount point. Default: true for any URL that differs from the target, also for one that a
   * layer has rewritten.
   */
  protected get isMounted(): boolean {
    return this.routed !== this.target
  }

  #runHandler(): void {
    depths.set(this.req, (depths.get(this.req) ?? 0) + 1)
    this.#continue()
  }

  /** A hit never gets here, so only handlers pay for `res.cattlegrid`. */
  #continue(error?: PassedError): void {
    Object.defineProperty(this.res, 'cattlegrid', DIRECTIVES)
    this.#next(error)
  }
}

/** Made on first use: most handlers use no directives. */
const DIRECTIVES: PropertyDescriptor & ThisType<ServerResponse> = {
  configurable: true,
  get() {
    return directivesOf(this)
  },
}

/**
 * Makes the middleware of a purge endpoint; see `purgeEndpoint`.
 *
 * @example
 * import { httpCache, purgeMiddleware } from '@cattlegrid/http'
 *
 * app.use('/purge', purgeMiddleware(httpCache(cache), { authorize: (request) => request.headers['x-key'] === process.env['PURGE_KEY'] }))
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function purgeMiddleware<Req extends IncomingMessage>(
  http: HttpCache,
  options: PurgeOptions<Req> | undefined,
): NodeMiddleware {
  const endpoint = purgeEndpoint(http, options)
  return (req, res, next) => {
    const { method = '', url: target = '' } = req
    const answered = endpoint({ request: req as Req, res, method, target })
    void answered.then((answer) => answer && sendAnswer(res, answer)).then(undefined, next)
  }
}
