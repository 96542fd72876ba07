import { deserialize, serialize } from 'node:v8'
import { INVALID, objectRule, type OptionRule } from './option-rules.ts'

/** Turns a value into the bytes that a shared store keeps, and back. */
export interface Codec<V = unknown> {
  /** Written beside the bytes, so that a reader never decodes with another codec: 1–15 are the library's, 16–255 yours. */
  readonly id: number
  /** @throws whatever it likes when the value cannot be encoded: the value is then given to its callers and not stored. */
  encode(value: V): Uint8Array
  /** @throws whatever it likes on bytes that are not its own: the entry then counts as missing. */
  decode(bytes: Buffer): V
}

/** A codec for any value: `decode` is told by its caller what comes out. */
export interface OpenCodec {
  readonly id: number
  encode(value: unknown): Uint8Array
  decode<T>(bytes: Buffer): T
}

/** JSON text, as `JSON.stringify` writes it; a top-level `undefined` is kept too, as no bytes at all. The default. */
export const json: OpenCodec = {
  id: 1,
  encode(value) {
    const text: string | undefined = JSON.stringify(value)
    if (text === undefined && value !== undefined) throw new TypeError(`JSON has no form for a ${typeof value}`)
    return Buffer.from(text ?? '', 'utf8')
  },
  decode<T>(bytes: Buffer): T {
    return (bytes.length === 0 ? undefined : JSON.parse(bytes.toString('utf8'))) as T
  },
}

/** The structured clone format of V8: Date, Map, Set, BigInt, undefined, typed arrays and cycles survive. */
export const structured: OpenCodec = {
  id: 2,
  encode: (value) => serialize(value),
  decode: <T>(bytes: Buffer): T => deserialize(bytes) as T,
}

/** Bytes as they are. */
export const raw: Codec<Uint8Array> = {
  id: 3,
  encode(value) {
    if (!(value instanceof Uint8Array)) throw new TypeError('The raw codec takes a Buffer or Uint8Array')
    return value
  },
  decode: (bytes) => bytes,
}

/** The id of the codec for HTTP responses, which `@cattlegrid/http` brings. */
const RESPONSES = 4

/** What an option named `codec` takes. */
export const codecRule: OptionRule<Codec> = {
  accepted: 'json, structured, raw, or an object { id: 16–255, encode(value), decode(bytes) }',
  parse(value, path) {
    const codec = objectRule<Codec>('', 'encode', 'decode').parse(value, path)
    if (codec === INVALID || !Number.isInteger(codec.id)) return INVALID
    // Known by their ids: another copy of this package has objects of its own.
    const ours = codec.id >= json.id && codec.id <= RESPONSES
    return ours || (codec.id >= 16 && codec.id <= 255) ? codec : INVALID
  },
}
