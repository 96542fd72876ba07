import type { OutgoingHttpHeaders } from 'node:http'
import {
  DetachedResponse,
  type HeaderFields,
  type NotModified,
  type Recording,
  type ResponseHead,
  toFields,
} from '@cattlegrid/http'
import type { FastifyReply } from 'fastify'
import { bytesOf, copied, takeApart } from './payload.ts'
import { isGone, type RawState, type RawWatch, watchRaw } from './raw-response.ts'

/** How an `onSend` hook goes on: with an error, or with what is to be sent. */
export type Onward = (error: Error | null, payload?: unknown) => void

/** One answer on its way through `onSend`. A hook that throws after ours makes Fastify send another: the last one counts. */
interface PendingPayload {
  readonly head: ResponseHead
  /** What came before the head was out. */
  readonly early: Buffer[]
  whole: boolean
}

/**
 * Follows the handler's answer: the body as it comes through our `onSend` hook, which is what the inside made; the head once more where
 * Node accepts it, because hooks after ours may add what forbids to keep it.
 */
export class ReplyRecord implements RawWatch {
  /** The fields that were set when the handler began. */
  readonly before: HeaderFields
  /** The trailers that the handler has set. */
  readonly trailers: Set<string> = new Set()
  readonly #reply: FastifyReply
  readonly #recording: Recording
  readonly #raw: RawState
  #passage: PendingPayload | undefined
  #final: ResponseHead | undefined
  #headIsOut = false
  #over = false
  #held: Onward | undefined

  constructor(reply: FastifyReply, recording: Recording) {
    this.#reply = reply
    this.#recording = recording
    this.before = fieldsOf(reply)
    this.#raw = watchRaw(reply.raw, reply.request.raw, this)
    this.#noteTrailers()
  }

  /** How to go on from where a withheld answer stands; undefined where none does. */
  get pendingOnSend(): Onward | undefined {
    return this.#held
  }

  /** A whole answer is with the hooks after ours: nothing can overtake it. */
  get isOnItsWay(): boolean {
    return this.#held === undefined && this.#passage?.whole === true
  }

  /** Fastify does not tell which there are, and they must not be sent behind another answer. */
  #noteTrailers(): void {
    const reply = this.#reply
    const { trailer } = reply
    reply.trailer = (name, make) => {
      this.trailers.add(name)
      return Reflect.apply(trailer, reply, [name, make])
    }
  }

  get skipBackpressure(): boolean {
    return !this.#over && this.#recording.keeping
  }

  pass(payload: unknown, onward: Onward): void {
    const reply = this.#reply
    const body = takeApart(reply, payload)
    const known = bytesOf(body)
    const fields = fieldsOf(reply)
    const head = { status: reply.statusCode, fields, before: this.before, bodyLength: known?.length }
    // A handler that fails because its client left fails for nobody else.
    if (this.#gone && head.status >= 400) this.#cutOff()
    const passage: PendingPayload = { head, early: known === undefined ? [] : [known], whole: known !== undefined }
    this.#passage = passage
    if (this.#recording.suppresses(head.status)) {
      this.#hold(passage, body, onward)
      return
    }
    onward(null, known === undefined ? (this.#copy(passage, body) ?? body) : body)
  }

  announces(status: number, fields: HeaderFields): Readonly<Record<string, string>> {
    const passage = this.#passage
    this.#final = undefined
    if (this.#over || passage === undefined || passage.head.status !== status) return {}
    const { fields: inner, before, bodyLength } = passage.head
    // Nothing lies below Node's own response: no hook can add to this head any more.
    this.#final = { status, fields: inner, before, outer: fields, bodyLength, final: true }
    return this.#recording.announces(this.#final)
  }

  answersNotModified(): NotModified | undefined {
    const [body, ...more] = this.#passage?.early ?? []
    const final = this.#final
    if (this.#over || final?.bodyLength === undefined || body === undefined || more.length > 0) return undefined
    return this.#recording.answersNotModified(final, body)
  }

  head(): void {
    const final = this.#final
    this.#headIsOut = true
    if (this.#over) return
    if (final === undefined) this.#refuse('hijacked')
    else {
      this.#recording.head(final)
      for (const chunk of this.#passage?.early ?? []) this.#recording.chunk(chunk)
    }
  }

  end(): void {
    if (this.#over) return
    // A hook after ours that dropped the stream made another body, which nobody recorded.
    if (this.#passage?.whole !== true) this.#refuse('hijacked')
    this.#over = true
    this.#recording.end()
  }

  close(): void {
    if (this.#over) return
    const streams = this.#passage !== undefined && this.#passage.head.bodyLength === undefined
    if (this.#raw.brokenOff || streams) this.#cutOff()
    else if (this.#reply.sent) this.#refuse('hijacked')
    // The client left before the answer: the handler still makes it, for those who follow.
    else this.#raw.detached = new DetachedResponse(this.#reply.raw, this.#recording)
  }

  /** The handler returned nothing. Fastify, which would send an empty answer to a client that is there, sends none to one that has left. */
  returnedNothing(): void {
    if (this.#gone && this.#passage === undefined) this.#cutOff()
  }

  get #gone(): boolean {
    return isGone(this.#reply.raw, this.#reply.request.raw)
  }

  /** The answer stays here; its bytes are told, and whoever answers instead goes on from `held`. */
  #hold(passage: PendingPayload, body: unknown, onward: Onward): void {
    this.#held = onward
    this.#headIsOut = true
    this.#recording.head(passage.head)
    for (const chunk of passage.early) this.#recording.chunk(chunk)
    const copy = passage.whole ? undefined : this.#copy(passage, body)
    if (copy === undefined) this.end()
    else
      copy
        .once('end', () => this.end())
        .once('error', () => this.#cutOff())
        .resume()
  }

  #copy(passage: PendingPayload, body: unknown): ReturnType<typeof copied> {
    const tell = (chunk: Buffer): void => {
      if (this.#over || this.#passage !== passage) return
      if (this.#headIsOut) this.#recording.chunk(chunk)
      else passage.early.push(chunk)
    }
    const whole = (): void => {
      passage.whole = true
    }
    return copied(body, tell, whole)?.once('close', () => {
      if (this.#passage === passage && !passage.whole && this.#gone) this.#cutOff()
    })
  }

  #refuse(why: 'hijacked'): void {
    if (!this.#over) this.#recording.refuse(why)
    this.#over = true
  }

  #cutOff(): void {
    if (!this.#over) this.#recording.cutOff(this.#held !== undefined || this.#raw.brokenOff ? 'handler' : 'client')
    this.#over = true
  }
}

/** What is set on the reply, and below it on Node's response. */
function fieldsOf(reply: FastifyReply): HeaderFields {
  return toFields(reply.getHeaders() as OutgoingHttpHeaders)
}
