import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Chunk } from '../../fields/body-arguments.ts'
import type { PayloadForm } from '../../response/response-head.ts'

/** The whole body of a payload; undefined for a stream, and for a payload that cannot be sent. */
export function bodyOfPayload(payload: unknown): Chunk | undefined {
  if (payload === undefined || payload === null) return ''
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : undefined
}

export function formOf(payload: unknown): PayloadForm | undefined {
  if (typeof payload === 'string') return 'text'
  if (payload === null) return 'null'
  return payload === undefined ? 'undefined' : undefined
}

/** What a copy of a stream reports. */
export interface StreamObserver {
  /** Called before the first read of the source. */
  onRead(): void
  /** Called with each chunk before the reader of the copy gets it. */
  onChunk(chunk: Buffer): void
  onEnd(): void
}

/** A copy of a stream; undefined if the payload is no readable stream. */
export function copyOfStream(payload: unknown, observer: StreamObserver): Readable | undefined {
  const source = asNodeStream(payload)
  return source && new StreamCopy(source, observer)
}

/**
 * Reads its source when it is read itself: until then, nothing runs the code of a source that makes its
 * chunks on demand.
 */
class StreamCopy extends Transform {
  readonly #observer: StreamObserver
  #source: Readable | undefined

  constructor(source: Readable, observer: StreamObserver) {
    super()
    this.#source = source
    this.#observer = observer
    this.once('close', () => discardPayload(this.#source))
    // A source may fail before it is read, and before anybody listens: a file that does not exist. Later
    // readers see that the copy is destroyed.
    source.on('error', (error) => this.on('error', () => {}).destroy(error))
  }

  override read(size?: number): unknown {
    const source = this.#source
    this.#source = undefined
    if (source !== undefined) {
      this.#observer.onRead()
      // A failure of the source destroys the copy with the same error, and a client that leaves destroys the
      // source through it.
      pipeline(source, this, () => {})
    }
    return super.read(size)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, next: TransformCallback): void {
    this.#observer.onChunk(chunk)
    next(null, chunk)
  }

  override _flush(next: TransformCallback): void {
    this.#observer.onEnd()
    next()
  }
}

/**
 * Destroys a payload that will not be sent.
 *
 * @example
 * import { discardPayload } from '@cattlegrid/http'
 * import { createReadStream } from 'node:fs'
 *
 * discardPayload(createReadStream('report.csv'))
 */
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
