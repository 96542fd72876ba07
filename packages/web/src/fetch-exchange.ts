import type { IncomingHttpHeaders } from 'node:http'
import type { Answer, Exchange, FieldValue, HeaderFields, PassedError, Recording } from '@cattlegrid/http'
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
  type SubrequestMarker,
} from '@cattlegrid/http/binding'
import { ClientLeaving } from './client-leaving.ts'
import { countAllowedReads, FetchReads } from './client-reads.ts'
import { fieldsOfBody, headersFrom, withFields, withReplaced } from './fields.ts'
import { type HandlerPlace, HandlerRun } from './handler-run.ts'
import { requestLike } from './request-like.ts'
import { markerOf } from './subrequests.ts'
import { watchEnd } from './watched-end.ts'

/** What lies behind the cache for one request, and how requests of the cache's own get there. */
export interface FetchPlace<Req extends Request, Given = Req, Produced = Response> extends HandlerPlace<Req> {
  /** What the functions among the options of the route get. Default: the request, and the response. */
  readonly objects?: { readonly request: Given; readonly response?: Produced } | undefined
  readonly name: string
  /** The pattern of the route; undefined: the place stands before all routes. */
  readonly pattern: string | undefined
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
  #isAnswered = false
  #status = 200
  #input: HandlerInput | undefined
  #reads: FetchReads | undefined
  #handler: HandlerRun<Req> | undefined
  #beforeEnd: ((fields: HeaderFields) => Promise<void>) | undefined

  constructor(request: Req, place: FetchPlace<Req, Given, Produced>) {
    const { url, method } = request
    const path = url.indexOf('/', url.indexOf('://') + 3)
    this.#request = request
    this.method = method
    this.headers = FetchReads.fieldsOf(request)
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
    return (this.#place.objects?.response ?? this.#handler?.response ?? Response.error()) as Produced
  }

  get subrequest(): SubrequestMarker | undefined {
    return markerOf(this.#request)
  }

  get given(): GivenDirectives {
    return givenDirectives(this.#handler?.request ?? this.#request)
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
    return (this.#reads = new FetchReads(rule, this.#request))
  }

  countAllowedReads(rule: PersonalReadRule): void {
    countAllowedReads(this.#request, rule)
  }

  judgePassedError(status: number, judgement: Judgement): Judgement {
    const passed = this.#handler?.thrown ?? this.#place.passedError()
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
    void this.#run(recording).catch((error: unknown) => {
      recording.abort('failure')
      this.#fail(error)
    })
  }

  send({ status, fields, extraFields, removed, body }: Answer): void {
    const own = { ...fields, ...extraFields }
    const outer = Object.entries(this.#place.before).filter(([name]) => !(name in own) && !removed.includes(name))
    const headers = headersFrom({ ...Object.fromEntries(outer), ...own })
    this.#answer(new Response((body ?? null) as Uint8Array<ArrayBuffer> | null, { status, headers }))
  }

  fail(passed: PassedError): void {
    // The handler's own error tells more than that there is no response.
    const thrown = this.#handler?.thrown
    if (thrown !== undefined) return this.#fail(thrown.error)
    this.#status = passed.statusCode
    void this.#answerError(passed)
  }

  destroy(): void {
    const reason = new Error('The response will not be completed.')
    this.#handler?.destroy(reason)
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
    const headers = withReplaced(new Headers(this.#request.headers), this.#replaced)
    return requestLike(this.#request, this.#request, { headers })
  }

  async #run(recording: Recording): Promise<void> {
    const { scheme = this.scheme, host = this.host, path = this.target } = this.#input ?? {}
    this.#handler = new HandlerRun(this.#place, {
      request: this.#request,
      url: `${scheme}://${host}${path}`,
      headers: this.headers,
      input: this.#input,
      replaced: this.#replaced,
      reads: this.#reads,
      client: this.#client,
      onLeave: () => this.#leave(undefined),
    })
    const response = await this.#handler.begin(recording)
    if (response !== undefined) this.#answer(response)
  }

  async #answerError(passed: PassedError): Promise<void> {
    try {
      this.#answer(await this.#place.answerError(passed))
    } catch (reason) {
      this.#fail(reason)
    }
  }

  /** A host that waits for the response of a client that has left must not wait for ever. */
  #leave(reason: unknown): void {
    this.#client.leave(reason)
    this.#handler?.leave()
    this.#fail(this.#client.reason)
  }

  #answer(response: Response): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#status = response.status
    this.#resolve(this.#onClose.length === 0 ? response : watchEnd(response, () => this.#close()))
  }

  #fail(reason: unknown): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#resolve(Promise.reject(reason))
    this.#close()
  }

  #close(): void {
    for (const listener of this.#onClose.splice(0)) listener()
  }
}
