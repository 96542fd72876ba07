import type { ResponseHead } from '../response/response-head.ts'

/** How a 304 differs from the answer that it stands for. */
export interface NotModified {
  /** Names of fields that it has not. */
  readonly removed: readonly string[]
  /** Fields that it has beside the others. */
  readonly fields: Readonly<Record<string, string>>
}

/** Takes down what a handler answers. None of its methods throws. Chunks may come before the head. */
export interface Recording {
  /** Whether bytes are still kept: as long as they are, a write need not wait for a slow client, for the copy is bounded. */
  readonly keeping: boolean
  /** Resolves once no more bytes are kept: how the answer came out is certain, or it concerns nobody any more. */
  readonly done: Promise<unknown>
  /**
   * Whether an answer of this status is kept from the client, because a stale one will be sent instead. Asked before a byte is out. Its
   * head, chunks and end are told as usual.
   */
  suppresses(status: number): boolean
  /**
   * Asked of a whole answer before a byte is out. Defined where the client has it already: it is to get a 304, and the recording is told
   * of the answer itself.
   */
  answersNotModified(head: ResponseHead, body: Uint8Array): NotModified | undefined
  /** Fields to send with this head, over those that are set, such as the whole `Cache-Status`. */
  announces(head: ResponseHead): Readonly<Record<string, string>>
  /** Told once the framework accepted the head, or when it is withheld. */
  head(head: ResponseHead): void
  chunk(bytes: Uint8Array): void
  /** The handler said that the body is whole. */
  end(): void
  /** The answer will never be whole: its client left, or the handler broke off. */
  cutOff(by: 'client' | 'handler'): void
  /** What was sent is not what was told. */
  refuse(why: 'hijacked'): void
}
