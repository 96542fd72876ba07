import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { discardPayload, PayloadCapture, type Recording } from '@cattlegrid/http'
import type { FastifyReply } from 'fastify'
import type { OnSendDone } from './first-on-send.ts'
import { runsHooksForNotFound } from './internals.ts'

/**
 * Records the handler's reply: its payload in the plugin's `onSend` hook, its head where Fastify passes it
 * to Node.
 */
export class ReplyCapture extends PayloadCapture {
  /**
   * The trailers that the handler has set. Fastify does not list them, and they must not follow
   * another response.
   */
  readonly #trailers = new Set<string>()
  readonly #reply: FastifyReply
  #onSendDone: OnSendDone | undefined

  constructor(reply: FastifyReply, recording: Recording, hasLaterHooks: boolean) {
    const { raw: res, request, trailer } = reply
    const before = fieldsOf(reply)
    super({ req: request.raw, res, isHijacked: () => reply.sent, before, hasLaterHooks }, recording)
    this.#reply = reply
    const send = reply.send.bind(reply)
    const callNotFound = reply.callNotFound.bind(reply)
    // Not assigned one by one: see docs/decisions/0013.
    Object.assign(reply, {
      ...watchedFields(reply, this),
      trailer: (name: string, make: unknown) => {
        this.#trailers.add(name)
        return Reflect.apply(trailer, reply, [name, make]) as FastifyReply
      },
      callNotFound: () => {
        // The app's hooks may set fields by the client, as they do outside, where each request runs them.
        if (runsHooksForNotFound(request)) recording.markUnshareable('personal')
        callNotFound()
        return reply
      },
      send: (payload: unknown) => (this.isReplaced ? this.discard(payload) : send(payload)),
    })
  }

  /** Destroys a payload that comes when another response has been sent. */
  discard(payload: unknown): FastifyReply {
    discardPayload(isWebResponse(payload) ? payload.body : payload)
    return this.#reply
  }

  /**
   * Gives the reply the fields that it had when the handler began, for another response. Returns the function
   * that continues the `onSend` hook which withholds the reply; undefined if it is not withheld.
   */
  override reopen(): OnSendDone | undefined {
    const reply = this.#reply
    super.reopen()
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
    for (const [name, value] of Object.entries(this.before)) reply.header(name, value)
    for (const name of this.#trailers) reply.removeTrailer(name)
    return this.#onSendDone
  }

  onSend(payload: unknown, done: OnSendDone): void {
    const reply = this.#reply
    const body = unwrapResponse(reply, payload)
    const followed = this.follow(reply.statusCode, fieldsOf(reply), body)
    if (followed === undefined) this.#onSendDone = done
    else this.#passOn(followed.payload, done)
  }

  /**
   * From here on the hooks of outer layers have the payload, until the head is sent or the stream is read.
   */
  #passOn(payload: unknown, done: OnSendDone): void {
    this.recording.handedOver()
    done(null, payload)
    // Unless one of them is asynchronous, they have run. If one has set the stream flowing, its source may
    // run the handler's code from now on.
    if (payload instanceof Readable && payload.readableFlowing === true) this.recording.streamRead()
  }
}

/** The methods of the reply by which fields are read and written; `headers` calls `header`, too. */
function watchedFields(reply: FastifyReply, capture: PayloadCapture): object {
  const header = reply.header.bind(reply) as (name: unknown, value: unknown) => unknown
  const getHeader = reply.getHeader.bind(reply) as (name: unknown) => unknown
  const getHeaders = reply.getHeaders.bind(reply)
  const removeHeader = reply.removeHeader.bind(reply) as (name: unknown) => unknown
  const plain = {
    get: getHeader,
    getAll: getHeaders,
    set: header,
    append: header,
    remove: removeHeader,
  }
  const { get, getAll, set, remove } = capture.watch(plain, () => reply.statusCode)
  return { header: set, getHeader: get, getHeaders: getAll, removeHeader: remove }
}

/** The fields of the reply, and those of Node's response. */
function fieldsOf(reply: FastifyReply): OutgoingHttpHeaders {
  return reply.getHeaders() as OutgoingHttpHeaders
}

/**
 * Puts the status and the fields of a web `Response` on the reply and returns its body. Fastify does the same
 * after the last `onSend` hook, which is too late for the recording. Fastify refuses a `Response` that was
 * already read.
 */
function unwrapResponse(reply: FastifyReply, payload: unknown): unknown {
  if (!isWebResponse(payload) || payload.bodyUsed) return payload
  reply.code(payload.status)
  for (const [name, value] of payload.headers) reply.header(name, value)
  return payload.body
}

function isWebResponse(payload: unknown): payload is Response {
  return Object.prototype.toString.call(payload) === '[object Response]'
}
