import type { CallerSignal } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import type { OuterBodies } from '../recorder/outer-bodies.ts'
import type { Recording } from '../recorder/recording.ts'
import type { FieldValue, HeaderFields } from '../fields/header-fields.ts'
import type { ClientReads, PersonalReadRule } from '../request/client-reads.ts'
import type { HandlerInput } from '../request/handler-input.ts'
import type { MatchedRoute } from '../request/request-key.ts'
import type { Ambiguity } from '../request/single-fields.ts'
import type { Answer } from '../response/answer.ts'
import type { ServeError } from '../response/errors.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { GivenDirectives } from '../response/response-directives.ts'
import type { Judgement } from '../response/storable.ts'
import type { SendSubrequest, SubrequestMarker } from './subrequest.ts'

/** An error for the framework's error handling. */
export type PassedError = ServeError

/** Signals that the client has left before its response was complete. */
export interface ClientSignal extends CallerSignal {
  /** The request has its response: nothing waits any more that a disconnect would end. */
  ignore(): void
}

/** What a request shows before its handler runs. A binding decides nothing: it states facts. */
export interface RequestFacts<Req = unknown, Res = unknown> {
  /** The framework's own objects, for the functions among the route's options. */
  readonly request: Req
  readonly response: Res
  readonly method: string
  /** The method on the wire, if a layer replaced it. */
  readonly originalMethod: string | undefined
  readonly headers: IncomingHttpHeaders
  /**
   * `http` or `https`, as the framework trusts it: forwarded fields count only where it is configured to
   * trust the proxy.
   */
  readonly scheme: string
  /** Host and port, as the framework trusts it. */
  readonly host: string
  /**
   * The request-target as the client sent it, before mount points and the rewriting of other layers; after
   * `rewriteUntilEnd`, the rewritten one.
   */
  readonly target: string
  /**
   * `target` as other layers have rewritten it; with the mount path, unless the framework does not tell it.
   */
  readonly routed: string | undefined
  /**
   * The pattern of the route, with that of its mount point, as the app declares them; undefined where the
   * cache stands before the routes.
   */
  readonly pattern: string | undefined
  /** The route's pattern, where the framework ignores the case of a path or its trailing slash. */
  readonly matched: MatchedRoute | undefined
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
  readonly routingFields: Readonly<Record<string, string>> | undefined
  /**
   * True if a layer outside has chosen, for this response alone, how the framework serializes the payload:
   * the response is its client's own.
   */
  readonly ownSerializer: boolean
  /** Set on a request of the cache's own. */
  readonly subrequest: SubrequestMarker | undefined
  /** Why not every handler sees the one value of each of these fields and cookies that the key holds. */
  ambiguityIn(names: readonly string[], cookies?: readonly string[]): Ambiguity | undefined
}

/** Runs the handler of a request, and shows it only what its key holds. */
export interface HandlerRun {
  /** True if `replaceFields` can replace fields of the request. */
  readonly hasReplaceableFields: boolean
  /** What the handler has said about its own response so far. */
  readonly given: GivenDirectives
  /** True if the URL can be rewritten like this wherever the handler may read it. */
  canRewrite(url: (url: string) => string): boolean
  /**
   * Rewrites the URL wherever the handler may read it, until the response is finished. Returns a function
   * that undoes it earlier; undefined where it cannot be done, and then changes nothing.
   */
  rewriteUntilEnd(url: (url: string) => string): (() => void) | undefined
  /**
   * Removes from the request the input that its key does not hold.
   *
   * @throws NoSharedResult where the URL cannot be rewritten.
   */
  show(input: HandlerInput): void
  /** Sets fields of the request, or removes them where the value is undefined. */
  replaceFields(replaced: ReadonlyMap<string, string | undefined>): void
  /** Watches what the handler reads about its client. */
  watchReads(rule: PersonalReadRule): ClientReads
  /** Counts the reads that a layer inside allows or has in its key as made, for the layers outside. */
  countAllowedReads(rule: PersonalReadRule): void
  /** The judgement on a response of this status, where the handler has passed an error on. */
  judgePassedError(status: number, judgement: Judgement): Judgement
  /** Lets the handler answer, uncached and unrecorded. */
  pass(): void
  /**
   * Lets the handler answer its own client, and reports the response to `recording`. At most once, and not
   * after `pass`.
   */
  run(recording: Recording): void
  /**
   * Returns what sends requests of the cache's own to this place. Reads the client's connection at once: it
   * may be gone later.
   */
  subrequests(): SendSubrequest
}

/** Answers the client of a request. */
export interface Sink {
  /** True if the head of the response is sent. */
  readonly isAnswered: boolean
  /** The status that is set. */
  readonly status: number
  /**
   * A response field that outer layers have set so far, as Node's `getHeader` returns it; `name` in
   * lower case.
   */
  field(name: string): FieldValue | undefined
  /** Adds these fields to the head when that is written. */
  addFields(make: (fields: HeaderFields) => Readonly<Record<string, string>>): void
  /**
   * Answers in the handler's place. After `run`, it first drops the fields that the handler set, and ignores
   * what the handler still writes. Throws only what an outer layer throws before the first byte.
   */
  send(answer: Answer): void
  /**
   * Passes an error to the framework's own error handling. Also after `run`, before the first byte is sent;
   * does nothing where the handler's whole payload cannot be replaced any more.
   */
  fail(error: PassedError): void
  /** Closes the connection: the response will not be completed. */
  destroy(): void
  /** Tells `bodies` whether the client gets this body of a stored response, or layers outside replace it. */
  watchBody(bodies: OuterBodies, response: RecordedResponse, body: Buffer): void
  /** Calls `listener` once the response has ended or its client has left. */
  onClose(listener: () => void): void
  watchClient(): ClientSignal
  /** Calls `beforeEnd` with the fields of a 2xx or 3xx head, and sends the end of the response after that. */
  delayEnd(beforeEnd: (fields: HeaderFields) => Promise<void>): void
}

/**
 * One request and its response, as a binding translates them: `NodeExchange` for servers over `node:http`,
 * that of `@cattlegrid/web` for `Request` and `Response`. `describeAdapterContract` of the testkit checks
 * every adapter.
 */
export interface Exchange<Req = unknown, Res = unknown> extends RequestFacts<Req, Res>, HandlerRun, Sink {}
