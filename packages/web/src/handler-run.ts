import type { IncomingHttpHeaders } from 'node:http'
import type { HeaderFields, Recording, ResponseHead } from '@cattlegrid/http'
import { type HandlerInput, shownFields } from '@cattlegrid/http/binding'
import type { ClientLeaving } from './client-leaving.ts'
import type { FetchReads } from './client-reads.ts'
import { fieldsOfBody, headersFrom, withReplaced } from './fields.ts'
import { HandlerBody } from './handler-body.ts'
import { shownRequest } from './shown-request.ts'
import { isRefresh, markShown } from './subrequests.ts'

/** The handler of a place, and what is known of the layers around it. */
export interface HandlerPlace<Req extends Request> {
  /** The fields that layers outside have set so far. */
  readonly before: HeaderFields
  /** The names of the fields that the handler has set so far, where the framework tells them. */
  readonly written: ReadonlySet<string>
  /** Runs the handler. `reads`: undefined where nothing is recorded. */
  readonly run: (request: Req, reads: FetchReads | undefined) => Promise<Response>
}

/** What a run of a handler begins with. */
interface Setting<Req extends Request> {
  readonly request: Req
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** undefined: a subrequest, which is made of its key already, or a handler that is only observed. */
  readonly input: HandlerInput | undefined
  readonly replaced: ReadonlyMap<string, string | undefined>
  /** undefined: nobody watches. */
  readonly reads: FetchReads | undefined
  readonly client: ClientLeaving
  /** Call it where the client has left. */
  readonly onLeave: () => void
}

/** One run of a handler whose response is recorded, and goes to its own client, unless it is withheld. */
export class HandlerRun<Req extends Request> {
  /** What the handler gets. */
  readonly request: Req
  readonly #place: HandlerPlace<Req>
  readonly #setting: Setting<Req>
  readonly #stop = new AbortController()
  #response: Response | undefined
  #body: HandlerBody | undefined
  #thrown: { readonly error: unknown } | undefined
  #isCertain = false

  constructor(place: HandlerPlace<Req>, setting: Setting<Req>) {
    const { request, url, headers, input, replaced, reads } = setting
    this.#place = place
    this.#setting = setting
    const fields = headersFrom((input === undefined ? headers : shownFields(headers, input)) as HeaderFields)
    const shown = { url, headers: withReplaced(fields, replaced), signal: this.#stop.signal }
    this.request = reads === undefined ? request : shownRequest(request, shown, reads)
    reads?.watch(this.request)
    if (isRefresh(request)) markShown(this.request)
  }

  /** What the handler has returned so far. */
  get response(): Response | undefined {
    return this.#response
  }

  /** What the handler has thrown. */
  get thrown(): { readonly error: unknown } | undefined {
    return this.#thrown
  }

  /** Resolves to the response for the client; undefined where it is withheld. Rejects as the handler does. */
  async begin(recording: Recording): Promise<Response | undefined> {
    void recording.done.then(() => this.#end())
    try {
      this.#response = await this.#place.run(this.request, this.#setting.reads)
      this.#body = new HandlerBody(this.#response.body, recording, this.#setting.onLeave)
      await this.#body.begin()
    } catch (error) {
      return this.#recordThrown(error, recording)
    }
    return await this.#record(this.#response, this.#body, recording)
  }

  /** The client has left: the body is read on for the recording. */
  leave(): void {
    this.#body?.leave()
    if (this.#isCertain) this.#abandon()
  }

  /** The response will not be completed. */
  destroy(reason: unknown): void {
    this.#body?.destroy(reason)
  }

  /** The result of the recording is certain. Where the client has left, nobody wants the response. */
  #end(): void {
    this.#isCertain = true
    if (this.#setting.client.aborted) this.#abandon()
  }

  #abandon(): void {
    this.#body?.abandon()
    this.#stop.abort(this.#setting.client.reason)
  }

  /** Of a body that fails, the client gets the error only where there is no stale response. */
  async #collect(body: HandlerBody, recording: Recording): Promise<undefined> {
    try {
      await body.collect()
    } catch (error) {
      this.#thrown = { error }
      recording.abort('failure')
    }
  }

  /** The framework answers an error of its handler with a 500. */
  #recordThrown(error: unknown, recording: Recording): undefined {
    this.#thrown = { error }
    const isWithheld = recording.withholds(500)
    recording.head({ status: 500, fields: {}, before: {}, bodyLength: undefined, final: true })
    recording.abort('failure')
    if (!isWithheld) throw error
  }

  async #record(response: Response, body: HandlerBody, recording: Recording): Promise<Response | undefined> {
    const { status, statusText } = response
    const isWithheld = recording.withholds(status)
    const { whole } = body
    const fields = fieldsOfBody(response)
    const head = this.#headOf(status, fields, whole?.length)
    const notModified = whole === undefined || isWithheld ? undefined : recording.answersNotModified(head, whole)
    const added = recording.extraFields(head)
    recording.head(head)
    body.record()
    if (isWithheld) return await this.#collect(body, recording)
    if (notModified !== undefined) {
      const kept = Object.entries(fields).filter(([name]) => !notModified.removed.includes(name))
      const headers = headersFrom({ ...Object.fromEntries(kept), ...notModified.fields, ...added })
      return new Response(null, { status: 304, headers })
    }
    const sent = response.body === null ? null : (whole ?? body.stream())
    return new Response(sent, { status, statusText, headers: headersFrom({ ...fields, ...added }) })
  }

  #headOf(status: number, fields: HeaderFields, bodyLength: number | undefined): ResponseHead {
    const { before, written } = this.#place
    const changed = Object.keys(fields).filter((name) => String(fields[name]) !== String(before[name]))
    return {
      status,
      fields,
      // What the handler has set, too, is its own.
      before: Object.fromEntries(Object.entries(before).filter(([name]) => !written.has(name))),
      errorFields: status < 400 ? undefined : new Set(changed),
      bodyLength,
      final: true,
    }
  }
}
