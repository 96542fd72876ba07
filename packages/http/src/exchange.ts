import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './response/answer.ts'
import type { ServeError } from './response/errors.ts'
import type { HeaderFields } from './fields/header-fields.ts'
import type { Recording } from './capture/recording.ts'
import type { Matched } from './request/request-key.ts'

/** How the URL of a request is to look to its handler. */
export interface Reshape {
  /** Of each URL that the framework shows, whole or from a mount point on. */
  readonly url: (url: string) => string
  /** Whether a parameter of this name, without the `[…]` behind it, stays in parsed queries. Default: all do. */
  readonly keeps?: ((parameter: string) => boolean) | undefined
}

/**
 * One request as the road sees it: what an adapter translates for its framework. The adapter decides nothing; it tells the truth in the
 * fields and does what the methods say. `describeAdapterContract` of the testkit holds every adapter to it.
 */
export interface Exchange<Req = unknown, Res = unknown> {
  /** The framework's own objects, for the functions among the route's options. */
  readonly request: Req
  readonly response: Res
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** `http` or `https`, as the framework trusts it: forwarded fields count only where it was told to trust the proxy. */
  readonly scheme: string
  /** Host and port, as the framework trusts it. */
  readonly host: string
  /** The request-target of the request line, before any mount point or rewriting. */
  readonly target: string
  /** The same as the handler sees it, whole, where something on the way rewrote it. */
  readonly routed?: string | undefined
  /** The route's pattern and parameters, where the framework takes paths that differ in case or a last slash for one. */
  readonly matched?: Matched | undefined
  /**
   * Tells apart the places of one app that may answer one URL: nested layers, constrained routes. The same in every process and at every
   * start, because it is part of the key.
   */
  readonly layer: string
  /** Whether the framework decodes a path before it routes: then `/%61` and `/a` are one entry. */
  readonly decodesPath: boolean
  /** A field of the answer that is set so far, by layers outside; `name` in lower case. */
  field(name: string): HeaderFields[string] | undefined
  /**
   * Gives the URL this shape wherever the handler may look: raw, original, parsed. Returns what undoes it; undefined where it cannot be done,
   * and then nothing is changed.
   */
  reshape(shape: Reshape): (() => void) | undefined
  /** Lets the handler answer, uncached and unrecorded. */
  pass(): void
  /** Lets the handler answer its own client, and tells `recording` all of it. At most once, and not after `pass`. */
  run(recording: Recording): void
  /** Answers in the handler's place. After `run`, the fields that the handler had set are dropped first, and what it still writes is ignored. */
  send(answer: Answer): void
  /** Hands an error to the framework's own error handling. Also after `run`, while no byte is out. */
  fail(error: ServeError): void
  /** Puts a request of our own into the root of the application, where a request from the network would enter. */
  dispatch(req: IncomingMessage, res: ServerResponse): void
}

/**
 * Reshapes the URL for as long as its handler may answer; false where it cannot be done. Access logs outside, which are told of the end after
 * this, see the real one. Not so where the client leaves before: the handler may still make everybody's answer.
 */
export function reshapeUntilEnd(exchange: Exchange, shape: Reshape): boolean {
  const undo = exchange.reshape(shape)
  if (undo !== undefined) exchange.res.prependOnceListener('finish', undo)
  return undo !== undefined
}
