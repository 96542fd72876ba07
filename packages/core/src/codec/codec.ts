import { deserialize, serialize } from 'node:v8'
import { jsonLoss, structuredLoss } from './codec-loss.ts'
import { objectRule } from '../option-rules/option-rules.ts'
import type { OptionRule } from '../option-rules/option-rule.ts'
import { copyBytes } from './own-bytes.ts'

/** Encodes values to the bytes that a shared store keeps, and decodes them. */
export interface Codec<V = unknown> {
  /**
   * Written beside the bytes, so that no reader decodes them with another codec: two codecs with one id must
   * decode alike. 1–15 are reserved for the library; use 16–255.
   */
  readonly id: number
  /**
   * @throws any error when the value cannot be encoded: the callers then get the value, and it is not stored.
   */
  encode(value: V): Uint8Array
  /**
   * Returns a new value at every call: the same bytes are decoded for several callers. They are part of a
   * larger buffer, so copy what the value keeps of them.
   *
   * @throws any error for bytes that it cannot decode: the entry then counts as missing. Bytes that it has
   * decoded once it always decodes: a caller that joins the read would get the error.
   */
  decode(bytes: Buffer): V
  /**
   * Returns the first part of a value that `decode` would not return as it was encoded, such as
   * `value.roles (Set)`; undefined when there is none. Default: not checked.
   */
  lossOf?(value: V): string | undefined
  /**
   * True when nobody changes a decoded value: callers that join one read then share it. Default: false, and
   * each gets its own.
   */
  readonly immutable?: boolean | undefined
}

/**
 * True when the two decode the same bytes. By id, not by object: a call may make its codec anew, and another
 * copy of this package has other objects.
 */
export function isSameCodec(one: Codec, other: Codec): boolean {
  return one === other || one.id === other.id
}

/**
 * Returns bytes that nobody else can change: `encode` of the raw codec returns the value itself.
 *
 * @throws any error of the codec.
 */
export function encodeToOwnBytes(value: unknown, codec: Codec): Buffer {
  const bytes: unknown = codec.encode(value)
  if (!(bytes instanceof Uint8Array)) throw new TypeError('A codec must encode to a Uint8Array')
  return copyBytes(bytes)
}

/** A codec for any value: the caller of `decode` names the type. */
export interface OpenCodec {
  readonly id: number
  lossOf?(value: unknown): string | undefined
  readonly immutable?: boolean | undefined
  encode(value: unknown): Uint8Array
  decode<T>(bytes: Buffer): T
}

/**
 * JSON text, as `JSON.stringify` writes it. A top-level `undefined` is stored as no bytes. The default codec.
 */
export const json: OpenCodec = {
  id: 1,
  encode(value) {
    const text: string | undefined = JSON.stringify(value)
    if (text === undefined && value !== undefined)
      throw new TypeError(`The json codec cannot encode a ${typeof value}; return a value that JSON can represent`)
    return Buffer.from(text ?? '', 'utf8')
  },
  decode<T>(bytes: Buffer): T {
    return (bytes.length === 0 ? undefined : JSON.parse(bytes.toString('utf8'))) as T
  },
  lossOf: jsonLoss,
}

/**
 * The structured clone format of V8: Date, Map, Set, BigInt, undefined, typed arrays and cycles survive. The
 * decoder makes views of the bytes, so it gets a copy.
 */
export const structured: OpenCodec = {
  id: 2,
  encode: (value) => serialize(value),
  decode: <T>(bytes: Buffer): T => deserialize(copyBytes(bytes)) as T,
  lossOf: structuredLoss,
}

/**
 * A codec for bytes: `decode` always returns a `Buffer`, so a loader may return one. The caller of `decode`
 * names the type.
 */
export interface BytesCodec {
  readonly id: number
  lossOf?(value: Uint8Array): string | undefined
  readonly immutable?: boolean | undefined
  encode(value: Uint8Array): Uint8Array
  decode<T = Buffer>(bytes: Buffer): T
}

/** Bytes as they are. */
export const raw: BytesCodec = {
  id: 3,
  encode(value) {
    if (!(value instanceof Uint8Array))
      throw new TypeError(
        'The raw codec takes only a Buffer or Uint8Array; use the json or structured codec for other values',
      )
    return value
  },
  decode: <T>(bytes: Buffer): T => copyBytes(bytes) as T,
  lossOf: (value: unknown) => (value instanceof Uint8Array ? undefined : `value (${typeof value})`),
}

/** The id of the codec for HTTP responses, in `@cattlegrid/http`. */
const HTTP_RESPONSE_ID = 4

/** The rule of every option named `codec`. */
export const codecRule: OptionRule<Codec> = {
  accepted: 'json, structured, raw, or an object { id: 16–255, encode(value), decode(bytes) }',
  parse(value, path) {
    const codec = objectRule<Codec>('', 'encode', 'decode').parse(value, path)
    if (codec === undefined || !Number.isInteger(codec.id)) return undefined
    // By id, not by object: another copy of this package has other objects.
    const isBuiltIn = codec.id >= json.id && codec.id <= HTTP_RESPONSE_ID
    return isBuiltIn || (codec.id >= 16 && codec.id <= 255) ? codec : undefined
  },
}
