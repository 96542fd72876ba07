import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type Answer,
  discardPayload,
  type FieldValue,
  type MatchedRoute,
  NodeExchange,
  type Recording,
  type UrlRewrite,
  type PassedError,
} from '@cattlegrid/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AnswerPayload, payloadOf } from './answer-payload.ts'
import type { AppFacts } from './app-facts.ts'
import { type OnSendDone, type PayloadReceiver, receiverOf, setReceiver } from './first-on-send.ts'
import { ReplyCapture } from './reply-capture.ts'
import { rewriteUrl } from './url-rewrite.ts'
import { newDeferred, type Deferred } from './deferred.ts'

/** The status and the fields of outer layers that an answer replaces. */
interface HeadBefore {
  readonly status: number
  readonly fields: readonly (readonly [name: string, FieldValue | undefined])[]
}

/** Distinguishes routes of one URL. */
export interface RoutePlace {
  readonly name: string
  /** Request fields without which Fastify would choose another route, such as one of another version. */
  readonly routingFields: Readonly<Record<string, string>> | undefined
}

/** Runs the handler of one request, or the error handling in its place. */
export interface HandlerCalls {
  /** Returns what Fastify would get from the handler. */
  run(): unknown
  /** Passes an error, whose fields are set, to the enclosing error handling. Default: Fastify's own. */
  fail?: ((error: PassedError) => void) | undefined
}

/** Translates one request: made where Fastify calls the handler, or in `onRequest` for that `phase`. */
export class FastifyExchange extends NodeExchange<FastifyRequest, FastifyReply> implements PayloadReceiver {
  readonly decodesPath: boolean = true
  readonly request: FastifyRequest
  readonly response: FastifyReply
  readonly place: string
  readonly outer: PayloadReceiver | undefined
  override readonly routingFields: RoutePlace['routingFields']
  readonly #app: AppFacts
  readonly #handler: HandlerCalls
  #deferred: Deferred | undefined
  #capture: ReplyCapture | undefined
  #replaced = false
  #before: HeadBefore | undefined
  #answer: Answer | undefined
  #answerPayload: AnswerPayload
  /** The `Content-Type` that outer layers have set. */
  #outerType: FieldValue | undefined

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    { name, routingFields }: RoutePlace,
    app: AppFacts,
    handler: HandlerCalls,
  ) {
    super()
    this.request = request
    this.response = reply
    this.outer = receiverOf(reply)
    // As in Node's exchange: an inner place has separate entries.
    this.place = this.outer === undefined ? name : `@${depthOf(this.outer)} ${name}`
    this.routingFields = routingFields
    this.#app = app
    this.#handler = handler
  }

  /** What Fastify gets from the handler; undefined once replaced. Not the reply: Fastify would await it. */
  get returned(): Promise<unknown> | undefined {
    return this.#replaced ? undefined : this.#ownDeferred.promise
  }

  get req(): IncomingMessage {
    return this.request.raw
  }

  get res(): ServerResponse {
    return this.response.raw
  }

  get scheme(): string {
    return this.request.protocol
  }

  get host(): string {
    return this.request.host
  }

  get target(): string {
    return this.request.originalUrl
  }

  override get routed(): string {
    return this.request.url
  }

  override get pattern(): string | undefined {
    return this.request.routeOptions.url
  }

  override get matched(): MatchedRoute | undefined {
    const { pattern } = this
    return this.#app.foldsPaths && pattern !== undefined ? { pattern, base: '' } : undefined
  }

  override get ownSerializer(): boolean {
    return this.#app.hasSerializer(this.response)
  }

  override get replacesBodies(): boolean {
    return this.#app.hasOnSend(this.request)
  }

  field(name: string): FieldValue | undefined {
    // What a handler has set since is not that of the layers outside.
    return this.#capture === undefined ? this.response.getHeader(name) : this.#capture.before[name]
  }

  rewriteUrl(rewrite: UrlRewrite): (() => void) | undefined {
    return rewriteUrl(this.request, rewrite)
  }

  /** A validator that returns the fields gives the request a copy, which comes before those of Node. */
  protected override fieldsReplaced(names: readonly string[]): void {
    const { request } = this
    if (request.headers === this.req.headers) return
    const copied = Object.entries(request.headers)
    request.headers = Object.fromEntries(copied.filter(([name]) => !names.includes(name.toLowerCase())))
  }

  pass(): void {
    this.#runHandler()
  }

  run(recording: Recording): void {
    this.#capture = new ReplyCapture(this.response, recording, this.replacesBodies)
    this.#capture.run(() => this.#runHandler())
  }

  send(answer: Answer): void {
    const done = this.#replaceHandler(changedNames(answer))
    try {
      this.#sendAnswer(answer, done)
    } catch (error) {
      this.#undoReplacement()
      throw error
    }
  }

  fail(error: PassedError): void {
    if (this.#capture?.isWithLaterHooks === true) return
    const { headers, statusCode } = error
    const done = this.#replaceHandler(Object.keys(headers))
    try {
      this.response.headers(headers)
      if (done === undefined) this.#passError(error)
      else {
        // If the error handler throws as well, Fastify sends the status that is set.
        this.response.code(statusCode)
        done(error)
      }
    } catch (thrown) {
      this.#undoReplacement()
      throw thrown
    }
  }

  dispatch(req: IncomingMessage, res: ServerResponse): void {
    this.response.server.routing(req, res)
  }

  /** The plugin's `onSend` hook. */
  onSend(payload: unknown, done: OnSendDone): void {
    const answer = this.#answer
    if (answer !== undefined) this.#sendInstead(answer, payload, done)
    else if (this.#capture === undefined || this.#replaced) done(null, payload)
    else this.#capture.onSend(payload, done)
  }

  #sendAnswer(answer: Answer, done: OnSendDone | undefined): void {
    const reply = this.response
    for (const name of answer.removed) reply.removeHeader(name)
    reply.code(answer.status)
    // The length may be that of a hook's payload. Fastify declares that of what it sends.
    for (const name of Object.keys(answer.fields))
      if (name !== 'content-length') reply.header(name, answer.fields[name])
    reply.headers(answer.extraFields ?? {})
    if (answer.body !== undefined && answer.fields['content-length'] === undefined) this.#removeFraming()
    const payload = payloadOf(answer, this.method === 'HEAD', this.replacesBodies)
    if (done !== undefined) done(null, payload ?? null)
    else {
      this.#answer = answer
      this.#outerType = this.field('content-type')
      this.#answerPayload = payload
      reply.send(payload)
    }
  }

  /**
   * Fastify declares the length of each payload that it sends, also beside the `Transfer-Encoding` of a hook.
   * Node frames no response for which that field was removed, even if it was not set: a hook that takes the
   * response over needs the framing.
   */
  #removeFraming(): void {
    for (const response of [this.response, this.res])
      if (response.hasHeader('transfer-encoding')) response.removeHeader('transfer-encoding')
  }

  /** If a layer throws at an answer, a handler that has not run can still respond. The head is as before. */
  #undoReplacement(): void {
    if (this.#before === undefined) return
    this.#replaced = false
    this.#answer = undefined
    for (const [name, value] of this.#before.fields) setOrRemove(this.response, name, value)
    this.response.code(this.#before.status)
  }

  /** Sends the stored payload. Discards what a serializer or an earlier hook made of it. */
  #sendInstead(answer: Answer, payload: unknown, done: OnSendDone): void {
    this.#answer = undefined
    const stored = this.#answerPayload
    // Fastify has declared one for the stored payload, if no outer layer had.
    if (answer.fields['content-type'] === undefined) setOrRemove(this.response, 'content-type', this.#outerType)
    if (payload === stored) return done(null, payload)
    discardPayload(payload)
    // Fastify takes undefined for a payload that stays as it is.
    done(null, stored ?? null)
  }

  #passError(error: PassedError): void {
    if (this.#handler.fail === undefined) this.response.send(error)
    else this.#handler.fail(error)
  }

  #runHandler(): void {
    const { reject } = this.#ownDeferred
    try {
      const result = this.#handler.run()
      // Fastify waits for `reply.send`.
      if (result === undefined) return
      Promise.resolve(result).then(
        (value) => this.#onReturn(value),
        (error: unknown) => this.#replaced || reject(error),
      )
    } catch (error) {
      reject(error)
    }
  }

  #onReturn(value: unknown): void {
    if (value === undefined) this.#capture?.returnedNothing()
    // While asynchronous hooks run, Fastify takes what is returned for a second payload: it never sends it.
    const hasSent = value !== this.response && this.#capture?.hasPayload === true
    if (this.#replaced || hasSent) this.#capture?.discard(value)
    else this.#ownDeferred.resolve(value)
  }

  get #ownDeferred(): Deferred {
    return (this.#deferred ??= newDeferred())
  }

  /** Ignores the handler from now on, and removes its fields. Returns how a withheld reply goes on. */
  #replaceHandler(changed: readonly string[]): OnSendDone | undefined {
    this.#replaced = true
    // A place inside this one must not take it for the response of its handler.
    setReceiver(this.response, this)
    if (this.#capture !== undefined) return this.#capture.reopen()
    const { statusCode: status } = this.response
    // Fastify declares a type for a payload without one.
    this.#before = { status, fields: [...changed, 'content-type'].map((name) => [name, this.field(name)] as const) }
    return undefined
  }
}

/** The names of the fields that the answer sets or removes. */
function changedNames({ fields, extraFields, removed }: Answer): readonly string[] {
  return [...Object.keys(fields), ...Object.keys(extraFields ?? {}), ...removed]
}

function setOrRemove(reply: FastifyReply, name: string, value: FieldValue | undefined): void {
  if (value === undefined) reply.removeHeader(name)
  else reply.header(name, value)
}

function depthOf({ outer }: PayloadReceiver): number {
  return outer === undefined ? 1 : depthOf(outer) + 1
}
