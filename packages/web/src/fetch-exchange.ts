import type { IncomingHttpHeaders } from 'node:http'
import type { Answer, Exchange, FieldValue, HeaderFields, PassedError, Recording, ResponseHead } from '@cattlegrid/http'
import {
  type Ambiguity,
  ambiguityIn,
  type ClientReads,
  type ClientSignal,
  type GivenDirectives,
  givenDirectives,
  type HandlerInput,
  judgedByError,
  type Judgement,
  type PersonalReadRule,
  type SendSubrequest,
  shownFields,
  type SubrequestMarker,
} from '@cattlegrid/http/binding'
import { ClientLeaving } from './client-leaving.ts'
import { FetchReads } from './client-reads.ts'
import { fieldsOfBody, headersFrom, withFields } from './fields.ts'
import { HandlerBody } from './handler-body.ts'
import { shownRequest } from './shown-request.ts'
import { markerOf, markShown } from './subrequests.ts'

/** What lies behind the cache for one request, and how requests of the cache's own get there. */
export interface FetchPlace<Req extends Request, Given = Req, Produced = Response> {
  /** What the functions among the options of the route get. Default: the request, and the response. */
  readonly objects?: { readonly request: Given; readonly response: Produced } | undefined
  readonly name: string
  /** The pattern of the route; undefined: the place stands before all routes. */
  readonly pattern: string | undefined
  /** The fields that layers outside have set so far. */
  readonly before: HeaderFields
  /** The names of the fields that the handler has set so far, where the framework tells them. */
  readonly written: ReadonlySet<string>
  /** Runs the handler. `reads`: undefined where nothing is recorded. */
  readonly run: (request: Req, reads: FetchReads | undefined) => Promise<Response>
  /** An error that the framework has turned into the response. */
  readonly passedError: () => { readonly error: unknown } | undefined
  /** Answers an error of the cache; rejects where the framework is to do that. */
  readonly answerError: (error: PassedError) => Promise<Response>
  readonly subrequests: SendSubrequest
}

/** One `Request`, and the `Response` to it. */
export class FetchExchange<Req extends Request, Given = Req, Produced = Response> implements Exchange<Given, Produced> {
  /** What the client gets. */
  readonly result: Promise<Response>
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly scheme: string
  readonly host: string
  readonly target: string
  readonly place: string
  readonly pattern: string | undefined
  readonly originalMethod: string | undefined = undefined
  readonly routed: string | undefined = undefined
  readonly matched: undefined = undefined
  readonly routingFields: undefined = undefined
  readonly decodesPath: boolean = false
  readonly ownSerializer: boolean = false
  readonly hasReplaceableFields: boolean = true
  readonly #request: Req
  readonly #place: FetchPlace<Req, Given, Produced>
  readonly #replaced = new Map<string, string | undefined>()
  readonly #made: ((fields: HeaderFields) => Readonly<Record<string, string>>)[] = []
  readonly #onClose: (() => void)[] = []
  #resolve: (response: Response | Promise<Response>) => void = () => undefined
  readonly #client = new ClientLeaving()
  #onLeft: (() => void) | undefined
  #isAnswered = false
  #status = 200
  #input: HandlerInput | undefined
  #reads: FetchReads | undefined
  /** What the handler got. */
  #shown: Req | undefined
  #response: Response | undefined
  #body: HandlerBody | undefined
  /** What the handler has thrown. */
  #thrown: { readonly error: unknown } | undefined
  #beforeEnd: ((fields: HeaderFields) => Promise<void>) | undefined

  constructor(request: Req, place: FetchPlace<Req, Given, Produced>) {
    const { url, method } = request
    const path = url.indexOf('/', url.indexOf('://') + 3)
    this.#request = request
    this.method = method
    this.headers = Object.fromEntries(request.headers)
    this.scheme = url.slice(0, url.indexOf(':'))
    this.host = url.slice(this.scheme.length + 3, path)
    // A fragment is no part of a request-target.
    this.target = url.slice(path).split('#', 1)[0] ?? '/'
    this.place = place.name
    this.pattern = place.pattern
    this.#place = place
    this.result = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  get request(): Given {
    return (this.#place.objects?.request ?? this.#request) as Given
  }

  /** The handler's response; before it has one, an error. */
  get response(): Produced {
    return (this.#place.objects?.response ?? this.#response ?? Response.error()) as Produced
  }

  get subrequest(): SubrequestMarker | undefined {
    return markerOf(this.#request)
  }

  get given(): GivenDirectives {
    return givenDirectives(this.#shown ?? this.#request)
  }

  get isAnswered(): boolean {
    return this.#isAnswered
  }

  get status(): number {
    return this.#status
  }

  field(name: string): FieldValue | undefined {
    return this.#place.before[name]
  }

  ambiguityIn(names: readonly string[], cookies?: readonly string[]): Ambiguity | undefined {
    const rawHeaders = Object.entries(this.headers).flatMap(([name, value]) => [name, String(value)])
    return ambiguityIn({ headers: this.headers, rawHeaders }, names, cookies)
  }

  canRewrite(): boolean {
    return true
  }

  /** A `Request` has no absolute target to rewrite. */
  rewriteUntilEnd(): undefined {
    return undefined
  }

  show(input: HandlerInput): void {
    this.#input = input
  }

  replaceFields(replaced: ReadonlyMap<string, string | undefined>): void {
    for (const [name, value] of replaced) this.#replaced.set(name, value)
  }

  watchReads(rule: PersonalReadRule): ClientReads {
    return (this.#reads = new FetchReads(rule))
  }

  /** The handlers of layers inside get a request of their own, which is watched there. */
  countAllowedReads(): void {
    // Nothing is counted for layers outside: what they see is the response.
  }

  judgePassedError(status: number, judgement: Judgement): Judgement {
    const passed = this.#thrown ?? this.#place.passedError()
    return passed === undefined ? judgement : judgedByError(passed.error, status, judgement)
  }

  subrequests(): SendSubrequest {
    return this.#place.subrequests
  }

  addFields(make: (fields: HeaderFields) => Readonly<Record<string, string>>): void {
    this.#made.push(make)
  }

  delayEnd(beforeEnd: (fields: HeaderFields) => Promise<void>): void {
    this.#beforeEnd = beforeEnd
  }

  onClose(listener: () => void): void {
    this.#onClose.push(listener)
  }

  watchClient(): ClientSignal {
    const { signal } = this.#request
    const leave = (): void => this.#leave(signal.reason)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return this.#client
  }

  /** What leaves the layers outside is not seen. */
  watchBody(): void {
    // They get a Response, and return another: a 304 or a part of the recorded body stays the cache's own.
  }

  pass(): void {
    void this.#pass().catch((error: unknown) => this.#fail(error))
  }

  run(recording: Recording): void {
    void this.#run(recording).catch((error: unknown) => this.#recordThrown(error, recording))
  }

  send({ status, fields, extraFields, removed, body }: Answer): void {
    const own = { ...fields, ...extraFields }
    const outer = Object.entries(this.#place.before).filter(([name]) => !(name in own) && !removed.includes(name))
    const headers = headersFrom({ ...Object.fromEntries(outer), ...own })
    this.#answer(new Response((body ?? null) as Uint8Array<ArrayBuffer> | null, { status, headers }))
  }

  fail(error: PassedError): void {
    // The handler's own error tells more than that there is no response.
    if (this.#thrown !== undefined) return this.#fail(this.#thrown.error)
    this.#status = error.statusCode
    void this.#place.answerError(error).then(
      (response) => this.#answer(response),
      (thrown: unknown) => this.#fail(thrown),
    )
  }

  destroy(): void {
    const reason = new Error('The response will not be completed.')
    this.#body?.destroy(reason)
    this.#fail(reason)
  }

  async #pass(): Promise<void> {
    const response = await this.#place.run(this.#passedRequest(), undefined)
    const fields = fieldsOfBody(response)
    if (response.status >= 200 && response.status < 400) await this.#beforeEnd?.(fields)
    const added = Object.assign({}, ...this.#made.map((make) => make(fields))) as Record<string, string>
    this.#answer(withFields(response, added))
  }

  #passedRequest(): Req {
    if (this.#replaced.size === 0) return this.#request
    const headers = new Headers(this.#request.headers)
    for (const [name, value] of this.#replaced) {
      if (value === undefined) headers.delete(name)
      else headers.set(name, value)
    }
    const Kind = this.#request.constructor as new (request: Request, init: RequestInit) => Req
    return new Kind(this.#request, { headers })
  }

  async #run(recording: Recording): Promise<void> {
    const stop = new AbortController()
    const request = (this.#shown = this.#shownRequest(stop.signal))
    void recording.done.then(() => {
      // Nobody else wants the response any more.
      this.#onLeft = () => {
        this.#body?.abandon()
        stop.abort(this.#client.reason)
      }
      if (this.#client.aborted) this.#onLeft()
    })
    const response = await this.#place.run(request, this.#reads)
    this.#response = response
    this.#body = new HandlerBody(response.body, recording, () => this.#leave(undefined))
    await this.#record(response, this.#body, recording)
  }

  /** The framework answers an error of its handler with a 500, and one of a body that has not begun. */
  #recordThrown(error: unknown, recording: Recording): void {
    this.#thrown = { error }
    const isWithheld = recording.withholds(500)
    recording.head({ status: 500, fields: {}, before: {}, bodyLength: undefined, final: true })
    recording.abort('failure')
    if (!isWithheld) this.#fail(error)
  }

  async #record(response: Response, body: HandlerBody, recording: Recording): Promise<void> {
    const { status } = response
    const isWithheld = recording.withholds(status)
    await body.begin()
    const { whole } = body
    const fields = fieldsOfBody(response)
    const head: ResponseHead = {
      status,
      fields,
      before: this.#before,
      errorFields: status < 400 ? undefined : this.#changedIn(fields),
      bodyLength: whole?.length,
      final: true,
    }
    const notModified = whole === undefined || isWithheld ? undefined : recording.answersNotModified(head, whole)
    const added = recording.extraFields(head)
    recording.head(head)
    body.record()
    if (isWithheld) {
      return await body.collect().catch((error: unknown) => {
        this.#thrown = { error }
        recording.abort('failure')
      })
    }
    if (notModified === undefined) {
      const sent = response.body === null ? null : (whole ?? body.stream())
      const headers = headersFrom({ ...fields, ...added })
      return this.#answer(
        new Response(sent as ReadableStream<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> | null, {
          ...initOf(response),
          headers,
        }),
      )
    }
    const kept = Object.entries(fields).filter(([name]) => !notModified.removed.includes(name))
    const headers = headersFrom({ ...Object.fromEntries(kept), ...notModified.fields, ...added })
    this.#answer(new Response(null, { status: 304, headers }))
  }

  /** What layers outside have set, and the handler has not. */
  get #before(): HeaderFields {
    const { before, written } = this.#place
    return Object.fromEntries(Object.entries(before).filter(([name]) => !written.has(name)))
  }

  /** The names of the fields that the handler, or the error handling, has set. */
  #changedIn(fields: HeaderFields): ReadonlySet<string> {
    const before = this.#place.before
    return new Set(Object.keys(fields).filter((name) => String(fields[name]) !== String(before[name])))
  }

  #shownRequest(signal: AbortSignal): Req {
    const input = this.#input
    const reads = this.#reads
    // A subrequest is made of its key already, and in observe mode the handler sees what it would see.
    const fields = input === undefined ? { ...this.headers } : shownFields(this.headers, input)
    const headers = headersFrom(fields as HeaderFields)
    for (const [name, value] of this.#replaced) {
      if (value === undefined) headers.delete(name)
      else headers.set(name, value)
    }
    const { scheme = this.scheme, host = this.host, path = this.target } = input ?? {}
    const url = `${scheme}://${host}${path}`
    if (reads === undefined) return this.#request
    const shown = shownRequest(this.#request, { url, headers, signal }, reads)
    if (this.subrequest !== undefined) markShown(shown)
    return shown
  }

  /** A host that waits for the response of a client that has left must not wait for ever. */
  #leave(reason: unknown): void {
    this.#client.leave(reason)
    this.#body?.leave()
    this.#onLeft?.()
    this.#fail(this.#client.reason)
  }

  #answer(response: Response): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#status = response.status
    this.#resolve(this.#onClose.length === 0 ? response : this.#watchEnd(response))
  }

  #fail(reason: unknown): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#resolve(Promise.reject(reason as Error))
    for (const listener of this.#onClose.splice(0)) listener()
  }

  #watchEnd(response: Response): Response {
    const close = (): void => {
      for (const listener of this.#onClose.splice(0)) listener()
    }
    if (response.body === null) {
      close()
      return response
    }
    const reader = response.body.getReader()
    const watched = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
        close()
      },
      async cancel(reason) {
        close()
        await reader.cancel(reason)
      },
    })
    return new Response(watched, response)
  }
}

function initOf({ status, statusText }: Response): ResponseInit {
  return { status, statusText }
}
