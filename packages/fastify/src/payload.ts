import { pipeline, Readable, Transform } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { FastifyReply } from 'fastify'

/**
 * Puts the status and the fields of a web `Response` on the reply and returns its body. Fastify does the same after the last `onSend` hook, which
 * is too late for the recording. A `Response` that was already read is left to Fastify, which refuses it.
 */
export function takeApart(reply: FastifyReply, payload: unknown): unknown {
  if (!isWebResponse(payload) || payload.bodyUsed) return payload
  reply.code(payload.status)
  for (const [name, value] of payload.headers) reply.header(name, value)
  return payload.body
}

/** The whole body; undefined for a stream, and for a payload that Fastify refuses to send. */
export function bytesOf(payload: unknown): Buffer | undefined {
  if (payload === undefined || payload === null) return Buffer.alloc(0)
  if (typeof payload === 'string') return Buffer.from(payload)
  return Buffer.isBuffer(payload) ? payload : undefined
}

/** The stream, each chunk of which goes to `tell` first; undefined if the payload is no readable stream. */
export function copied(payload: unknown, tell: (chunk: Buffer) => void, whole: () => void): Readable | undefined {
  const source = asNodeStream(payload)
  if (source === undefined) return undefined
  const copy = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      tell(chunk)
      next(null, chunk)
    },
    flush(next) {
      whole()
      next()
    },
  })
  // A failure of the source destroys the copy with the same error, and a client that leaves destroys the source through it.
  pipeline(source, copy, () => {})
  return copy
}

/** Destroys a payload that will not be sent. */
export function discard(payload: unknown): void {
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

function isWebResponse(payload: unknown): payload is Response {
  return Object.prototype.toString.call(payload) === '[object Response]'
}
