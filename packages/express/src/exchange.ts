import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type Answer,
  type Capture,
  captureResponse,
  type Exchange,
  type Recording,
  sendAnswer,
  type ServeError,
} from '@cattlegrid/http'

/** The part of an Express app that is asked, the same in 4 and 5. */
interface App {
  (req: IncomingMessage, res: ServerResponse): void
  get(setting: 'trust proxy fn'): (address: string | undefined, hops: number) => boolean
  /** The app that this one is mounted in. */
  readonly parent?: App | undefined
}

interface Request extends IncomingMessage {
  readonly app: App
  readonly protocol: string
  readonly originalUrl: string
}

/** How many of our layers a request has entered: the outer ones and the inner ones of one URL have entries of their own. */
const depths = new WeakMap<IncomingMessage, number>()

/** Translates one Express request. */
export class ExpressExchange implements Exchange<IncomingMessage, ServerResponse> {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly layer: string
  /** Express matches a path as it comes. */
  readonly decodesPath = false
  readonly #next: (error?: unknown) => void
  #capture: Capture | undefined

  constructor(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) {
    const depth = depths.get(req) ?? 0
    depths.set(req, depth + 1)
    this.req = req
    this.res = res
    this.layer = String(depth)
    this.#next = next
  }

  get request(): IncomingMessage {
    return this.req
  }

  get response(): ServerResponse {
    return this.res
  }

  get scheme(): string {
    return this.#express.protocol
  }

  /** As `req.host` of Express 5; that of Express 4 has lost the port. */
  get host(): string {
    const { app, headers, socket } = this.#express
    const forwarded = headers['x-forwarded-host']
    const trusted = forwarded !== undefined && app.get('trust proxy fn')(socket.remoteAddress, 0)
    return (trusted ? String(forwarded).split(',')[0]?.trim() : headers.host) ?? ''
  }

  get target(): string {
    return this.#express.originalUrl
  }

  pass(): void {
    this.#next()
  }

  run(recording: Recording): void {
    this.#capture = captureResponse(this.req, this.res, recording)
    this.#next()
  }

  send(answer: Answer): void {
    if (this.#capture === undefined) sendAnswer(this.res, answer)
    else this.#capture.send(answer)
  }

  fail(error: ServeError): void {
    this.#capture?.reopen()
    this.#next(error)
  }

  dispatch(req: IncomingMessage, res: ServerResponse): void {
    let root = this.#express.app
    while (root.parent !== undefined) root = root.parent
    root(req, res)
  }

  /** The prototype that Express gives every request has all this. */
  get #express(): Request {
    return this.req as Request
  }
}
