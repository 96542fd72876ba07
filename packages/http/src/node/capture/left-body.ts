import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import { type Chunk, chunkOf } from '../../fields/body-arguments.ts'
import { type HeaderFields, sameValue } from '../../fields/header-fields.ts'
import { sentFields } from '../../fields/head-arguments.ts'
import type { OuterBodies } from '../../recorder/outer-bodies.ts'

type Send = (data: Chunk, encoding?: BufferEncoding | null, ...rest: unknown[]) => unknown

/**
 * The body that left the layers outside for the handler's own client. Only if that was the recorded one, or a
 * coding of it, may the cache answer conditions and ranges: a layer that writes its client's name into each
 * page makes another page of the same recorded body.
 */
export class LeftBody {
  readonly #res: ServerResponse
  readonly #chunks: Buffer[] = []
  #watch: 'nothing' | 'what is passed on' | 'what Node gets' = 'nothing'

  /**
   * To be made before the methods of the response are replaced. Where a layer outside has replaced `write` or
   * `end`, what it makes of the body shows only where Node gets it. `mayDiffer`: layers outside may replace
   * the body by other means.
   */
  constructor(res: ServerResponse, mayDiffer = false) {
    this.#res = res
    if (mayDiffer || hasOwnBodyMethods(res)) this.#watchNode()
  }

  /** True if a layer outside may send another body. */
  get mayDiffer(): boolean {
    return this.#watch !== 'nothing'
  }

  /** True if a coding has left that the recorded body does not have: what it codes is not compared. */
  isCoded(recorded: HeaderFields): boolean {
    const coding = sentFields(this.#res)['content-encoding']?.toString() ?? 'identity'
    return coding !== 'identity' && !sameValue(coding, recorded['content-encoding'])
  }

  /** The framework lets layers outside have the body before it writes it. */
  watchPassed(): void {
    if (this.#watch === 'nothing') this.#watch = 'what is passed on'
  }

  /** What is written now is the recorded body: no layer outside has replaced it, after all. */
  passesRecorded(): void {
    if (this.#watch === 'what is passed on') this.#watch = 'nothing'
  }

  /** Notes arguments of `write` or `end`. */
  passOn(args: readonly unknown[]): void {
    const chunk = this.#watch === 'what is passed on' ? chunkOf(args) : undefined
    if (chunk !== undefined) this.#chunks.push(Buffer.from(chunk as string))
  }

  /**
   * True if this body has left; undefined: nothing has, as for HEAD and 304. A layer that delays the end, as
   * a session does until it is saved, keeps a part of the body back.
   */
  holds(body: Buffer): boolean | undefined {
    const wire = Buffer.concat(this.#chunks)
    const isChunked = this.#watch === 'what Node gets' && this.#res.chunkedEncoding
    const left = isChunked ? withoutFraming(wire) : wire
    if (left.length === 0) return body.length === 0 ? true : undefined
    const isDelayed = !this.#res.writableEnded && left.length < body.length
    return isDelayed ? body.subarray(0, left.length).equals(left) : left.equals(body)
  }

  /** Ends the copy. */
  drop(): void {
    this.#watch = 'nothing'
    this.#chunks.length = 0
  }

  #watchNode(): void {
    this.#watch = 'what Node gets'
    const { stream } = this.#res as unknown as Partial<Http2ServerResponse>
    const [target, name]: [object, string] = stream === undefined ? [this.#res, '_send'] : [stream, 'write']
    const method: unknown = Reflect.get(target, name)
    if (typeof method !== 'function') return
    const send: Send = (data, encoding, ...rest) => {
      if (this.#watch === 'what Node gets')
        this.#chunks.push(typeof data === 'string' ? Buffer.from(data, encoding ?? 'utf8') : Buffer.from(data))
      return Reflect.apply(method, target, [data, encoding, ...rest]) as unknown
    }
    Reflect.set(target, name, send)
  }
}

/** True if a layer outside has replaced a method that sends the body. */
function hasOwnBodyMethods(res: ServerResponse): boolean {
  return Object.hasOwn(res, 'write') || Object.hasOwn(res, 'end')
}

const LINE_END = '\r\n'

/** The content of a body in chunks (RFC 9112 section 7.1), as far as it has come. */
function withoutFraming(wire: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < wire.length;) {
    const end = wire.indexOf(LINE_END, at)
    const size = end < 0 ? 0 : Number.parseInt(wire.toString('latin1', at, end), 16)
    if (!(size > 0)) break
    parts.push(wire.subarray(end + LINE_END.length, end + LINE_END.length + size))
    at = end + size + 2 * LINE_END.length
  }
  return Buffer.concat(parts)
}

/**
 * Compares what is sent of a stored response with what leaves the layers outside. `mayDiffer`: as
 * in `LeftBody`.
 */
export function watchSentBody(
  res: ServerResponse,
  mayDiffer: boolean,
  bodies: OuterBodies,
  fields: HeaderFields,
  body: Buffer,
): void {
  if (!(mayDiffer || hasOwnBodyMethods(res))) return
  const left = new LeftBody(res, mayDiffer)
  res.once('finish', () => {
    if (!left.isCoded(fields)) bodies.note(left.holds(body), false)
    left.drop()
  })
}
