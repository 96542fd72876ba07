import { type Codec, encodeToOwnBytes } from '../../codec/codec.ts'

/**
 * A codec for one value that returns its bytes of this moment: until the step is sent, callers that have the value may change it. An error of the
 * encoding is thrown when the store encodes.
 */
export function encodedNow(value: unknown, codec: Codec): Codec {
  return { id: codec.id, encode: encodingOf(value, codec), decode: (bytes) => codec.decode(bytes) }
}

function encodingOf(value: unknown, codec: Codec): () => Uint8Array {
  try {
    const bytes = encodeToOwnBytes(value, codec)
    return () => bytes
  } catch (error) {
    return () => {
      throw error
    }
  }
}
