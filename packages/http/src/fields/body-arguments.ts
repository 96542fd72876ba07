import { isUint8Array } from 'node:util/types'

/** A part of a body, or the whole: text is encoded as UTF-8, and only where its bytes are kept. */
export type Chunk = string | Uint8Array

/** The chunk among `write`'s and `end`'s arguments: `(chunk?, encoding?, callback?)`. */
export function chunkOf([chunk, encoding]: readonly unknown[]): Chunk | undefined {
  if (typeof chunk === 'string') return isUtf8(encoding) ? chunk : Buffer.from(chunk, encoding as BufferEncoding)
  return isUint8Array(chunk) ? chunk : undefined
}

/** How many bytes they are. */
export function lengthOf([chunk, encoding]: readonly unknown[]): number {
  if (typeof chunk === 'string') return Buffer.byteLength(chunk, encodingOf(encoding))
  return isUint8Array(chunk) ? chunk.length : 0
}

/** True if Node throws for these arguments of `end`. It takes 0 and false for no chunk. */
export function endRefuses(args: readonly unknown[]): boolean {
  const [chunk] = args
  return Boolean(chunk) && typeof chunk !== 'function' && writeRefuses(args)
}

/** True if Node throws for these arguments of `write`. */
export function writeRefuses([chunk, encoding]: readonly unknown[]): boolean {
  return !(typeof chunk === 'string' || isUint8Array(chunk)) || !isEncoding(encoding)
}

function isEncoding(encoding: unknown): boolean {
  if (typeof encoding === 'string') return ['', 'buffer'].includes(encoding) || Buffer.isEncoding(encoding)
  return !encoding || typeof encoding === 'function'
}

function isUtf8(encoding: unknown): boolean {
  return typeof encoding !== 'string' || ['utf8', 'utf-8'].includes(encoding.toLowerCase())
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'
}

export function sameBytes(one: Chunk | undefined, other: Chunk | undefined): boolean {
  if (one === undefined || other === undefined) return false
  return one === other || Buffer.from(one as string).equals(Buffer.from(other as string))
}
