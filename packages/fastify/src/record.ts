import type { OutgoingHttpHeaders } from 'node:http'
import { type HeaderFields, type Recording, type ResponseHead, toFields } from '@cattlegrid/http'
import type { FastifyReply } from 'fastify'
import { bytesOf, copied, takeApart } from './payload.ts'
import { type RawState, type RawWatch, watchRaw } from './raw-response.ts'

/** How an `onSend` hook goes on: with an error, or with what is to be sent. */
export type Onward = (error: Error | null, payload?: unknown) => void

/** One answer on its way through `onSend`. A hook that throws after ours makes Fastify send another: the last one counts. */
interface Passage {
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
  readonly #reply: FastifyReply
  readonly #recording: Recording
  readonly #raw: RawState
  #passage: Passage | undefined
  #ownStatus: { readonly sent: string; readonly before: string | readonly string[] | undefined } | undefined
  #headIsOut = false
  #over = false
  #held: Onward | undefined

  constructor(reply: FastifyReply, recording: Recording) {
    this.#reply = reply
    this.#recording = recording
    this.before = fieldsOf(reply)
    this.#raw = watchRaw(reply.raw, this)
  }

  /** How to go on from where a withheld answer stands; undefined where none does. */
  get held(): Onward | undefined {
    return this.#held
  }

  /** A whole answer is with the hooks after ours: nothing can overtake it. */
  get isOnItsWay(): boolean {
    return this.#held === undefined && this.#passage?.whole === true
  }

  get hurries(): boolean {
    return !this.#over && this.#recording.keeping
  }

  pass(payload: unknown, onward: Onward): void {
    const reply = this.#reply
    const body = takeApart(reply, payload)
    this.#takeBackCacheStatus()
    const known = bytesOf(body)
    const fields = fieldsOf(reply)
    const head = { status: reply.statusCode, fields, before: this.before, bodyLength: known?.length }
    // A handler that fails because its client left fails for nobody else.
    if (reply.raw.destroyed && head.status >= 400) this.#cutOff()
    const passage: Passage = { head, early: known === undefined ? [] : [known], whole: known !== undefined }
    this.#passage = passage
    if (this.#recording.withholds(head.status)) {
      this.#hold(passage, body, onward)
      return
    }
    this.#announce(head)
    onward(null, known === undefined ? (this.#copy(passage, body) ?? body) : body)
  }

  head(status: number, fields: HeaderFields): void {
    const passage = this.#passage
    this.#headIsOut = true
    if (this.#over) return
    if (passage === undefined || passage.head.status !== status) this.#refuse('hijacked')
    else if ('trailer' in fields) this.#refuse('trailers')
    else {
      this.#recording.head({ ...passage.head, outer: fields })
      for (const chunk of passage.early) this.#recording.chunk(chunk)
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
    // Else the client left before the answer: the handler still makes it, for those who follow.
  }

  /** The answer stays here; its bytes are told, and whoever answers instead goes on from `held`. */
  #hold(passage: Passage, body: unknown, onward: Onward): void {
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

  #copy(passage: Passage, body: unknown): ReturnType<typeof copied> {
    const tell = (chunk: Buffer): void => {
      if (this.#over || this.#passage !== passage) return
      if (this.#headIsOut) this.#recording.chunk(chunk)
      else passage.early.push(chunk)
    }
    const whole = (): void => {
      passage.whole = true
    }
    return copied(body, tell, whole)?.once('close', () => {
      if (this.#passage === passage && this.#reply.raw.destroyed) this.#cutOff()
    })
  }

  #announce(head: ResponseHead): void {
    const value = this.#recording.cacheStatus(head)
    if (value === undefined) return
    this.#ownStatus = { sent: value, before: head.fields['cache-status'] }
    this.#reply.header('cache-status', value)
  }

  /** What was announced for an answer that another one replaced. */
  #takeBackCacheStatus(): void {
    const own = this.#ownStatus
    if (own === undefined || this.#reply.getHeader('cache-status') !== own.sent) return
    this.#reply.removeHeader('cache-status')
    if (own.before !== undefined) this.#reply.header('cache-status', own.before)
  }

  #refuse(why: 'trailers' | 'hijacked'): void {
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
