import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type Answer,
  type Capture,
  captureResponse,
  type Exchange,
  type HeaderFields,
  type Matched,
  type Recording,
  type Reshape,
  sendAnswer,
  type ServeError,
  toText,
  directivesOf,
} from '@cattlegrid/http'
import { type ExpressRequest, hostOf, matchedBy, reshaped, rootOf, routedOf } from './express-request.ts'
import { layerOf, passLayer } from './layer.ts'

/** Translates one Express request and its response. */
export class ExpressExchange implements Exchange<IncomingMessage, ServerResponse> {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly layer: string
  /** Express matches the encoded path. */
  readonly decodesPath = false
  readonly #next: (error?: unknown) => void
  #capture: Capture | undefined

  constructor(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) {
    this.req = req
    this.res = res
    this.layer = layerOf(req)
    this.#next = next
  }

  get request(): IncomingMessage {
    return this.req
  }

  get response(): ServerResponse {
    return this.res
  }

  field(name: string): HeaderFields[string] | undefined {
    return toText(this.res.getHeader(name))
  }

  get scheme(): string {
    return this.#express.protocol
  }

  get host(): string {
    return hostOf(this.#express)
  }

  get target(): string {
    return this.#express.originalUrl
  }

  get routed(): string {
    return routedOf(this.#express)
  }

  get matched(): Matched | undefined {
    return matchedBy(this.#express)
  }

  reshape(shape: Reshape): (() => void) | undefined {
    return reshaped(this.#express, shape)
  }

  pass(): void {
    passLayer(this.req)
    this.#continue()
  }

  run(recording: Recording): void {
    this.#capture = captureResponse(this.req, this.res, recording)
    passLayer(this.req)
    this.#continue()
  }

  send(answer: Answer): void {
    if (this.#capture === undefined) sendAnswer(this.res, answer)
    else this.#capture.send(answer)
  }

  fail(error: ServeError): void {
    this.#capture?.reopen()
    this.#continue(error)
  }

  dispatch(req: IncomingMessage, res: ServerResponse): void {
    rootOf(this.#express)(req, res)
  }

  /** Continues with the next middleware. A hit never gets here, so only handlers pay for `res.cattlegrid`. */
  #continue(error?: ServeError): void {
    Object.defineProperty(this.res, 'cattlegrid', DIRECTIVES)
    this.#next(error)
  }

  get #express(): ExpressRequest {
    return this.req as ExpressRequest
  }
}

/** Made on first use: most handlers use no directives. */
const DIRECTIVES: PropertyDescriptor & ThisType<ServerResponse> = {
  configurable: true,
  get() {
    return directivesOf(this)
  },
}
