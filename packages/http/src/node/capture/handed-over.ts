import type { Readable } from 'node:stream'
import type { Chunk } from '../../fields/body-arguments.ts'
import type { ResponseHead } from '../../response/response-head.ts'
import { bodyOfPayload, copyOfStream } from './payload.ts'
import type { Recording } from '../../recorder/recording.ts'

/**
 * A response as its handler left it, in a framework that writes it only when the outer layers have run. These
 * may send another body, such as a compressed one: the recorded body is this one.
 */
export class HandedOverResponse {
  readonly head: ResponseHead
  /** undefined: the body is a stream. */
  readonly body: Chunk | undefined
  /** What outer layers get: a copy of a stream. */
  readonly payload: unknown
  readonly #copy: Readable | undefined
  #whole: boolean

  /**
   * `headOf` gets the length of the body. A payload that is neither text, bytes nor a stream is passed on,
   * and never counts as whole.
   */
  constructor(payload: unknown, headOf: (bodyLength: number | undefined) => ResponseHead, recording: Recording) {
    const body = bodyOfPayload(payload)
    this.body = body
    this.#whole = body !== undefined
    this.head = headOf(body === undefined ? undefined : Buffer.byteLength(body))
    this.#copy = copyOfStream(payload, {
      onRead: () => recording.streamRead(),
      onChunk: (chunk) => recording.chunk(chunk),
      onEnd: () => {
        this.#whole = true
      },
    })
    this.payload = this.#copy ?? payload
  }

  /** True if the whole body is known: an outer layer may have dropped the stream. */
  get whole(): boolean {
    return this.#whole
  }

  /** Reads what nobody else reads. The framework may still destroy the stream. */
  readOn(onEnd: () => void, onFailure: () => void): void {
    if (this.#copy === undefined) onEnd()
    else this.#copy.once('close', () => (this.#whole ? onEnd() : onFailure())).resume()
  }
}
