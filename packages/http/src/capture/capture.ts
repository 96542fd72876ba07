import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { type Answer, setAnswerFields } from '../response/answer.ts'
import { DetachedResponse, discardChunk } from './detached-response.ts'
import { bytesOf, endRefuses } from '../fields/body-arguments.ts'
import { addToHead, parseHead } from '../fields/head-arguments.ts'
import { type HeaderFields, toFields } from '../fields/header-fields.ts'
import type { NotModified, Recording } from './recording.ts'
import { type CallOriginal, replaceMethods } from './response-methods.ts'
import type { ResponseHead } from '../response/response-head.ts'

/** A response whose handler is being recorded. */
export interface Capture {
  /** Sends this answer instead; whatever the handler still does with the response is in vain. */
  send(answer: Answer): void
  /** Nothing of the handler's is out yet: gives the response, as it was before the handler, to the framework's error handling. */
  reopen(): void
}

/** `pass`: the handler's answer goes to its client. `withhold`: it goes nowhere. `closed`: the answer is out, by whomever. */
type Mode = 'pass' | 'withhold' | 'closed'

/**
 * Wraps the methods through which every answer goes: `res.json`, `pipe`, `sendFile` and `flushHeaders` end here too. The head is seen as
 * layers registered after ours left it; what layers before ours do to it, such as compression, comes below and is not ours to store.
 */
export function captureResponse(req: IncomingMessage, res: ServerResponse, recording: Recording): Capture {
  return new ResponseCapture(req, res, recording)
}

class ResponseCapture implements Capture {
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #recording: Recording
  readonly #before: HeaderFields
  readonly #original: CallOriginal
  /** Nobody outside wrapped the head before us: what we see is what goes out. */
  readonly #final: boolean
  #mode: Mode = 'pass'
  #headSeen = false
  #ended = false
  #reopened = false
  #bodyLength: number | undefined
  /** Its client has the answer already. */
  #spared: NotModified | undefined
  /** Its client left before the head was out. */
  #detached: DetachedResponse | undefined

  constructor(req: IncomingMessage, res: ServerResponse, recording: Recording) {
    this.#req = req
    this.#res = res
    this.#recording = recording
    this.#before = toFields(res.getHeaders())
    this.#final = !Object.hasOwn(res, 'writeHead')
    this.#original = replaceMethods(res, {
      writeHead: (args) => this.#writeHead(args),
      write: (args) => this.#write(args),
      end: (args) => this.#end(args),
      flushHeaders: () => {
        this.#probe()
        if (this.#mode === 'pass' && this.#detached === undefined) this.#original('flushHeaders', [])
      },
      // For its own client: what is kept has none (RFC 9111 section 3.1).
      addTrailers: (args) => {
        if (this.#mode === 'pass') this.#original('addTrailers', args)
      },
    })
    res.once('close', () => this.#closed())
  }

  send(answer: Answer): void {
    this.#restore()
    this.#mode = 'closed'
    setAnswerFields(this.#res, answer)
    this.#original('writeHead', [answer.status])
    this.#original('end', answer.body === undefined ? [] : [answer.body])
    this.#silence()
  }

  reopen(): void {
    this.#restore()
    this.#mode = 'pass'
    this.#ended = false
    this.#reopened = true
  }

  #writeHead(args: readonly unknown[]): ServerResponse {
    const res = this.#res
    if (this.#mode !== 'pass') return res
    if (this.#headSeen) return this.#original('writeHead', args) as ServerResponse
    const head = this.#headOf(args)
    if (this.#recording.suppresses(head.status)) this.#mode = 'withhold'
    else if (this.#spared === undefined) this.#announce(this.#recording.announces(head), args)
    else this.#announceNotModified(this.#recording.announces(head), this.#spared)
    this.#headSeen = true
    // A handler that noticed that its client has left often fails for that alone, and nobody else is to suffer for it.
    if (this.#gone && head.status >= 400) this.#recording.cutOff('client')
    // Layers outside ours add their fields while the head goes down: a session's cookie is seen only now.
    const outer = this.#mode === 'pass' ? toFields(res.getHeaders()) : undefined
    this.#recording.head(outer === undefined ? head : withOuter(head, outer))
    return res
  }

  #headOf(args: readonly unknown[]): ResponseHead {
    const { status, fields } = parseHead(this.#res, args)
    return { status, fields, before: this.#before, bodyLength: this.#bodyLength, final: this.#final }
  }

  /** Layers outside see a 304 that the handler might have sent itself. */
  #announceNotModified(announced: Readonly<Record<string, string>>, { removed, fields }: NotModified): void {
    const res = this.#res
    for (const name of removed) res.removeHeader(name)
    for (const [name, value] of Object.entries(fields)) res.setHeader(name, value)
    res.statusMessage = ''
    this.#announce(announced, [304])
  }

  /** Sends the head down. When Node refuses it, it was never there: the handler's next try is another head. */
  #announce(announced: Readonly<Record<string, string>>, args: readonly unknown[]): void {
    const res = this.#res
    const previous = Object.keys(announced).map((name) => [name, res.getHeader(name)] as const)
    try {
      this.#original('writeHead', previous.length === 0 ? args : addToHead(res, args, announced))
    } catch (error) {
      for (const [name, value] of previous)
        if (value === undefined) res.removeHeader(name)
        else res.setHeader(name, value)
      throw error
    }
  }

  #write(args: readonly unknown[]): boolean {
    this.#probe()
    if (this.#mode === 'closed') return discardChunk(args)
    const discards = this.#mode === 'withhold' || this.#detached?.open === true
    const accepted = discards ? discardChunk(args) : this.#original('write', args) === true
    this.#record(bytesOf(args))
    // The copy is bounded, so the handler runs at its own speed and not at that of its client's line.
    return this.#recording.keeping || accepted
  }

  #end(args: readonly unknown[]): ServerResponse {
    // Before a 304 takes the place of this answer: the handler made a mistake.
    if (this.#mode === 'pass' && endRefuses(args)) return this.#original('end', args) as ServerResponse
    const bytes = bytesOf(args)
    this.#bodyLength = this.#headSeen ? undefined : (bytes?.length ?? 0)
    this.#probe(bytes ?? NOTHING)
    if (this.#mode !== 'pass') discardChunk(args)
    else this.#endBelow(args)
    if (this.#mode === 'closed' || this.#ended) return this.#res
    this.#ended = true
    if (this.#reopened) {
      this.#mode = 'closed'
      this.#silence()
    }
    this.#record(bytes)
    this.#recording.end()
    this.#detached?.finish()
    return this.#res
  }

  /** A client that has the body or has left gets none. Layers outside end with the response: one may save a session. */
  #endBelow(args: readonly unknown[]): void {
    if (this.#detached?.open === true) {
      discardChunk(args)
      this.#original('end', [])
    } else if (this.#spared === undefined) this.#original('end', args)
    else
      this.#original(
        'end',
        args.filter((argument) => typeof argument === 'function'),
      )
  }

  /**
   * An implicit head is written by Node from inside `end`: too late for one that is to be kept back, and never where the client has left.
   * Both are asked for before.
   */
  #probe(whole?: Uint8Array): void {
    const res = this.#res
    if (this.#mode !== 'pass' || this.#headSeen) return
    if (whole !== undefined) this.#spared = this.#recording.answersNotModified(this.#headOf([res.statusCode]), whole)
    if (this.#gone || this.#spared !== undefined || this.#recording.suppresses(res.statusCode))
      res.writeHead(res.statusCode)
  }

  #record(bytes: Uint8Array | undefined): void {
    if (bytes !== undefined) this.#recording.chunk(bytes)
  }

  /** Nobody can be answered any more. */
  get #gone(): boolean {
    return this.#detached !== undefined || this.#res.destroyed
  }

  #closed(): void {
    if (this.#ended || this.#mode === 'closed') return
    const by = clientLeft(this.#req, this.#res) ? 'client' : 'handler'
    if (this.#headSeen || by === 'handler') this.#recording.cutOff(by)
    else this.#detach()
  }

  /** Nothing was written yet: the handler may still finish, and its answer be kept. A stream that stops on its way here never will. */
  #detach(): void {
    const stopped = (source: Readable): void => {
      if (!this.#ended && !source.readableEnded) this.#recording.cutOff('client')
    }
    this.#detached = new DetachedResponse(this.#res, this.#recording)
    this.#res.on('unpipe', stopped)
    this.#res.on('pipe', (source) => source.once('close', () => stopped(source)))
  }

  #restore(): void {
    const res = this.#res
    for (const name of res.getHeaderNames()) if (!(name in this.#before)) res.removeHeader(name)
    for (const [name, value] of Object.entries(this.#before)) res.setHeader(name, value)
    res.statusCode = 200
    res.statusMessage = ''
  }

  /** The handler may go on for long: what it sets now must not throw, for its error would end a connection that is in use again. */
  #silence(): void {
    const res = this.#res
    res.setHeader = () => res
    res.setHeaders = () => res
    res.appendHeader = () => res
    res.removeHeader = () => undefined
  }
}

function withOuter({ status, fields, before, bodyLength, final }: ResponseHead, outer: HeaderFields): ResponseHead {
  return { status, fields, before, outer, bodyLength, final }
}

const NOTHING = new Uint8Array()

/**
 * Whether the other side hung up: by the end of its stream, or by a reset; else the response was destroyed here. Node closes a response that waits
 * for its turn on the connection only with the connection, which is not its handler's doing either.
 */
function clientLeft({ socket }: IncomingMessage, res: ServerResponse): boolean {
  const queued = res.socket === null && socket.destroyed
  return queued || socket.readableEnded || (socket.errored !== null && 'syscall' in socket.errored)
}
