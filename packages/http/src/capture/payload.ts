import { pipeline, Readable, Transform } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { PayloadForm } from '../response/response-head.ts'

/** The whole body of a payload; undefined for a stream, and for a payload that cannot be sent. */
export function bytesOfPayload(payload: unknown): Buffer | undefined {
  if (payload === undefined || payload === null) return Buffer.alloc(0)
  if (typeof payload === 'string') return Buffer.from(payload)
  return Buffer.isBuffer(payload) ? payload : undefined
}

export function formOf(payload: unknown): PayloadForm | undefined {
  if (typeof payload === 'string') return 'text'
  if (payload === null) return 'null'
  return payload === undefined ? 'undefined' : undefined
}

/** A copy of a stream, each chunk of which goes to `onChunk` first; undefined if the payload is no readable stream. */
export function copyOfStream(
  payload: unknown,
  onChunk: (chunk: Buffer) => void,
  onEnd: () => void,
): Readable | undefined {
  const source = asNodeStream(payload)
  if (source === undefined) return undefined
  const copy = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      onChunk(chunk)
      next(null, chunk)
    },
    flush(next) {
      onEnd()
      next()
    },
  })
  // A failure of the source destroys the copy with the same error, and a client that leaves destroys the source through it.
  pipeline(source, copy, () => {})
  return copy
}

/** Destroys a payload that will not be sent. */
export function discardPayload(payload: unknown): void {
  asNodeStream(payload)
    ?.on('error', () => {})
    .destroy()
}

function asNodeStream(payload: unknown): Readable | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  if ('pipe' in payload && typeof payload.pipe === 'function') return payload as Readable
  return isWebStream(payload) && !payload.locked ? Readable.fromWeb(payload) : undefined
}

function isWebStream(payload: object): payload is ReadableStream {
  return 'getReader' in payload && typeof payload.getReader === 'function'
}
