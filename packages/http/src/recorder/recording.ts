import type { HeaderFields } from '../fields/header-fields.ts'
import type { Chunk } from '../fields/body-arguments.ts'
import type { ResponseHead } from '../response/response-head.ts'
import type { AbortCause } from './recording-result.ts'

/** How a 304 differs from the response that it stands for. */
export interface NotModified {
  /** Names of fields that the 304 lacks. */
  readonly removed: readonly string[]
  /** Fields that only the 304 has. */
  readonly fields: Readonly<Record<string, string>>
}

/** The body that leaves the layers outside for the handler's own client. */
export interface LeavingBody {
  /** True if layers outside may replace the body by other means than the methods of the response. */
  readonly mayDiffer: boolean
  /** True if it has left as these bytes; undefined: nothing has left. */
  holds(body: Buffer): boolean | undefined
  /** True if a layer outside has coded it. `fields`: those of the recorded response. */
  isCoded(fields: HeaderFields): boolean
  /** Nobody asks any more. */
  drop(): void
}

/**
 * Receives a handler's response as it is written. None of its methods throws. Chunks may come before
 * the head.
 */
export interface Recording {
  /**
   * True if bytes are still copied: as long as they are, a write need not wait for a slow client, because the
   * copy is bounded.
   */
  readonly copying: boolean
  /** True if the handler's own client has sent conditions. Default: false. */
  readonly isConditional?: boolean | undefined
  /** Resolves once the result is certain: no more bytes are copied then. */
  readonly done: Promise<unknown>
  /**
   * True if a response of this status is withheld from the client, because another one may be sent instead.
   * Asked before a byte is sent. Its head, chunks and end are recorded as usual.
   */
  withholds(status: number): boolean
  /**
   * Asked of a complete response before a byte is sent. Defined where the client has the response already and
   * gets a 304; the recording receives the response itself.
   */
  answersNotModified(head: ResponseHead, body: Chunk): NotModified | undefined
  /**
   * Fields to send with this head, which replace those that are set, such as the whole `Cache-Status`.
   * `foreign`: it is not the head of the recorded response.
   */
  extraFields(head: ResponseHead, foreign?: 'hijacked'): Readonly<Record<string, string>>
  /**
   * The handler has handed its payload over: until the head, or the first read of a stream, only outer
   * layers run.
   */
  handedOver(): void
  /** A layer reads the stream that the handler has handed over: the handler's code may run again. */
  streamRead(): void
  /**
   * Called before the handler: what will have left the layers outside for its client. Default: the
   * recorded body.
   */
  leaves?(left: LeavingBody): void
  /** Calls an outer layer's method of the response, which may read what the handler has not read. */
  outside<T>(call: () => T): T
  /** Called once the framework accepted the head, or when it is withheld. */
  head(head: ResponseHead): void
  chunk(chunk: Chunk): void
  /** Before the head: the chunks so far are those of another body, which will not be sent. */
  restartBody(): void
  /** The body is complete. */
  end(): void
  /** The response will not be completed. */
  abort(cause: AbortCause): void
  /**
   * The response that was sent is not the recorded one, the load has ended before its handler, or hooks made
   * it for its client: it goes to that client only.
   */
  markUnshareable(why: 'hijacked' | 'personal' | 'timeout'): void
}
