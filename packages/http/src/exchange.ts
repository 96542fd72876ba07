import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'
import type { ServeError } from './errors.ts'
import type { Recording } from './recording.ts'

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
  /**
   * Tells apart the places of one app that may answer one URL: nested layers, constrained routes. The same in every process and at every
   * start, because it is part of the key.
   */
  readonly layer: string
  /** Whether the framework decodes a path before it routes: then `/%61` and `/a` are one entry. */
  readonly decodesPath: boolean
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
