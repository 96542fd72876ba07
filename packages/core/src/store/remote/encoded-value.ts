import { type Codec, encodeToOwnBytes } from '../../codec/codec.ts'

/**
 * A codec for one value that returns its bytes of the moment at which this was made: until the step is sent,
 * callers that have the value may change it.
 */
export class EncodedValue implements Codec {
  readonly id: number
  /** Undefined where the value cannot be encoded. */
  readonly bytes: Buffer | undefined
  /** Why it cannot. */
  readonly error: unknown
  readonly #codec: Codec

  private constructor(value: unknown, codec: Codec) {
    this.id = codec.id
    this.#codec = codec
    try {
      this.bytes = encodeToOwnBytes(value, codec)
    } catch (error) {
      this.error = error
    }
  }

  /** A codec that is one already, of this value, is returned. */
  static of(value: unknown, codec: Codec): EncodedValue {
    return codec instanceof EncodedValue ? codec : new EncodedValue(value, codec)
  }

  /** @throws the error of the encoding: the store reports it. */
  encode(): Buffer {
    if (this.bytes === undefined) throw this.error
    return this.bytes
  }

  decode(bytes: Buffer): unknown {
    return this.#codec.decode(bytes)
  }
}
