import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './response/answer.ts'
import type { ServeError } from './response/errors.ts'
import type { FieldValue } from './fields/header-fields.ts'
import type { Recording } from './capture/recording.ts'
import type { MatchedRoute } from './request/request-key.ts'
import type { UrlRewrite } from './request/url-rewrite.ts'

/** An error for the framework's error handling. */
export type PassedError = ServeError

/**
 * One request and its response, as an adapter translates them for its framework. The adapter decides nothing:
 * its fields state facts, and its methods do what they say. What a handler throws goes to the framework's
 * error handling; `send` and `fail` throw only what an outer layer throws before the first byte.
 * `describeAdapterContract` of the testkit checks every adapter.
 */
export interface Exchange<Req = unknown, Res = unknown> {
  /** The framework's own objects, for the functions among the route's options. */
  readonly request: Req
  readonly response: Res
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /**
   * Where middleware of the framework keeps its user, session and the like, if that is neither `request` nor
   * `req`: reads of these count as personal.
   */
  readonly state?: object | undefined
  /**
   * `http` or `https`, as the framework trusts it: forwarded fields count only where it is configured to
   * trust the proxy.
   */
  readonly scheme: string
  /** Host and port, as the framework trusts it. */
  readonly host: string
  /**
   * The request-target as the client sent it, before mount points and the rewriting of other layers; after
   * `rewriteUrl`, the rewritten one.
   */
  readonly target: string
  /**
   * `target` as other layers have rewritten it; with the mount path, unless the framework does not tell it.
   */
  readonly routed?: string | undefined
  /**
   * The pattern of the route, with that of its mount point, as the app declares them; undefined where the
   * cache stands before the routes.
   */
  readonly pattern?: string | undefined
  /** The route's pattern, where the framework ignores the case of a path or its trailing slash. */
  readonly matched?: MatchedRoute | undefined
  /**
   * Distinguishes the places of one app that may answer one URL: nested layers, constrained routes. It is
   * part of the key, and so must be the same in every process and at every start.
   */
  readonly place: string
  /** True if the framework decodes a path before it routes: if so, `/%61` and `/a` share an entry. */
  readonly decodesPath: boolean
  /**
   * Request fields by which the framework routes, such as a version: they lead a subrequest to the
   * same route.
   */
  readonly routingFields?: Readonly<Record<string, string>> | undefined
  /**
   * True if a layer outside has chosen, for this response alone, how the framework serializes the payload:
   * the response is its client's own.
   */
  readonly ownSerializer?: boolean | undefined
  /**
   * True if layers outside may replace the body of a response by other means than its `write` and `end`, as
   * hooks. Default: false.
   */
  readonly replacesBodies?: boolean | undefined
  /**
   * A response field that outer layers have set so far, as Node's `getHeader` returns it; `name` in
   * lower case.
   */
  field(name: string): FieldValue | undefined
  /**
   * Rewrites the URL wherever the handler may read it: raw, original, parsed. A parsed query becomes what the
   * app's own parser makes of the rewritten URL. Returns a function that undoes it; undefined where it cannot
   * be done, and then changes nothing.
   */
  rewriteUrl(rewrite: UrlRewrite): (() => void) | undefined
  /**
   * Called when the cache has replaced or removed these request fields in `req`: a copy of them that the
   * framework keeps must not show the old ones.
   */
  fieldsReplaced?(names: readonly string[]): void
  /** Lets the handler answer, uncached and unrecorded. */
  pass(): void
  /**
   * Lets the handler answer its own client, and reports the response to `recording`. At most once, and not
   * after `pass`.
   */
  run(recording: Recording): void
  /**
   * Answers in the handler's place. After `run`, it first drops the fields that the handler set, and ignores
   * what the handler still writes.
   */
  send(answer: Answer): void
  /**
   * Passes an error to the framework's own error handling. Also after `run`, before the first byte is sent;
   * does nothing where the handler's whole payload cannot be replaced any more.
   */
  fail(error: PassedError): void
  /**
   * Sends a subrequest into the root of the application. Called where the request came without a server,
   * injected or from a serverless platform, or its server has no `request` listener.
   */
  dispatch(req: IncomingMessage, res: ServerResponse): void
}

/**
 * Rewrites the URL until the response is finished; returns a function that undoes it earlier, or undefined
 * where it cannot be done. Outer access logs, whose `finish` listeners run later, see the real URL. If the
 * client disconnects first, the URL stays rewritten: the handler may still produce the shared response.
 */
export function rewriteUrlUntilEnd(exchange: Exchange, rewrite: UrlRewrite): (() => void) | undefined {
  const undo = exchange.rewriteUrl(rewrite)
  if (undo !== undefined) exchange.res.prependOnceListener('finish', undo)
  return undo
}
