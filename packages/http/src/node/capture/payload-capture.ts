import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { parseHead } from '../../fields/head-arguments.ts'
import { isHeadSent, showAsEnded, showAsOpen } from '../../fields/response-state.ts'
import { type Chunk, chunkOf, sameBytes } from '../../fields/body-arguments.ts'
import { type HeaderFields, toFields } from '../../fields/header-fields.ts'
import type { ResponseHead } from '../../response/response-head.ts'
import { Departure } from './departure.ts'
import { DetachedResponse } from './detached-response.ts'
import { ErrorFields } from './error-fields.ts'
import { bodyOfPayload, copyOfStream, formOf } from './payload.ts'
import type { NotModified, Recording } from '../../recorder/recording.ts'
import { ResponseCapture, type WrittenHead } from './response-capture.ts'
import { replaceMethods } from './response-methods.ts'
import { unwatched } from './state-reads.ts'
import { type FieldMethods, watchedMethods } from './watched-methods.ts'

/** A response whose framework passes each payload through hooks before it writes to Node's response. */
export interface PayloadResponse {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The fields that were set when the handler began. */
  readonly before: Readonly<OutgoingHttpHeaders>
  /** True if later hooks may replace the payload. Default: false. */
  readonly hasLaterHooks?: boolean | undefined
  /** True if the handler writes past the framework. */
  isHijacked(): boolean
}

/** A payload on its way through the hooks. If a hook throws, another one follows: the last one counts. */
interface PendingPayload {
  readonly head: ResponseHead
  /** undefined: it is a stream. */
  readonly body: Chunk | undefined
  whole: boolean
  copy: Readable | undefined
}

/**
 * Records the payload as the cache's own hook gets it, and the head once more where Node accepts it: later
 * hooks, or a handler that writes past the framework, may add what forbids to store the response.
 *
 * @example
 * import { PayloadCapture, type PayloadResponse, type Recording } from '@cattlegrid/http'
 *
 * const capture = (response: PayloadResponse, recording: Recording) => new PayloadCapture(response, recording)
 */
export class PayloadCapture extends ResponseCapture {
  /** The fields that were set when the handler began. */
  readonly before: HeaderFields
  readonly #response: PayloadResponse
  readonly #errorFields = new ErrorFields()
  readonly #departure: Departure
  #payload: PendingPayload | undefined
  #withheld = false
  #over = false
  /** The handler destroyed the response, or the framework did because a stream failed. */
  #destroyed = false

  constructor(response: PayloadResponse, recording: Recording) {
    const before = toFields(response.before)
    super(response.res, recording, before)
    this.before = before
    this.#response = response
    // An HTTP/2 response shows nowhere else that its handler has destroyed it.
    const original = replaceMethods(response.res, {
      destroy: (...args) => {
        // Node itself destroys a response that waits for its turn on the connection, once that is gone.
        if (this.isConnectionGone) this.detached?.onDestroy()
        else this.#destroyed = true
        return original('destroy', args)
      },
    })
    this.#departure = new Departure(response.req, response.res, {
      settled: recording.done,
      mayLearn: () => this.mayBeHandler && !this.#over && this.#payload?.whole !== true && !this.replacing,
      onDestroy: () => this.isHandler,
      onLearned: () => this.#abort(),
    })
    if (response.hasLaterHooks === true) this.#watchLaterHooks()
  }

  /** For a client with conditions, the head waits for the body, which shows whether hooks replaced it. */
  #watchLaterHooks(): void {
    const { res } = this.#response
    this.left.watchPassed()
    let held: readonly unknown[] | undefined
    // Node itself calls `writeHead` where nobody has: such a head must be out before what follows it.
    let begun = false
    const release = (whole: Chunk | undefined): void => {
      const args = held
      held = undefined
      begun = true
      if (args === undefined) return
      if (sameBytes(this.#payload?.body, whole)) this.left.passesRecorded()
      original('writeHead', args)
    }
    const original = replaceMethods(res, {
      writeHead: (...args) => {
        const waits = this.mode === 'send' && !this.#over && !this.replacing && this.#payload?.body !== undefined
        if (!waits || begun || held !== undefined || this.recording.isConditional !== true)
          return original('writeHead', args)
        held = args
        return res
      },
      write: (...args) => {
        release(undefined)
        return original('write', args)
      },
      end: (...args) => {
        try {
          release(chunkOf(args) ?? '')
        } catch (error) {
          // The framework would have caught it at its `writeHead`; nobody expects it here.
          if (isHeadSent(res)) throw error
          this.#abortRefused()
          original('writeHead', [500])
          return original('end', [])
        }
        return original('end', args)
      },
      flushHeaders: () => {
        release(undefined)
        return original('flushHeaders', [])
      },
    })
  }

  /** True if a whole payload is with later hooks or sent: nothing can replace it. */
  get isWithLaterHooks(): boolean {
    return !this.#withheld && this.#payload?.whole === true
  }

  /**
   * Follows a payload with the status and the fields that it has at the cache's hook. Returns the payload
   * that goes on to the client, which is a copy for a stream; undefined if the payload is withheld: the hook
   * then waits for the response that is sent instead.
   */
  follow(
    status: number,
    fields: Readonly<OutgoingHttpHeaders>,
    payload: unknown,
  ): { readonly payload: unknown } | undefined {
    const known = bodyOfPayload(payload)
    const bodyLength = known === undefined ? undefined : Buffer.byteLength(known)
    const errorFields = this.#errorFields.namesFor(status)
    const head = { status, ...this.writers.byWriter(toFields(fields)), errorFields, bodyLength, form: formOf(payload) }
    if (this.failsForDisconnect(status)) this.#abort()
    if (this.#payload !== undefined && !this.#withheld) {
      // A handler that sends twice: nothing shows which payload is sent. A failure is never stored.
      if (this.headSeen || (status < 500 && !hasFailed(this.#payload))) this.#markUnshareable()
      if (!this.headSeen) this.recording.restartBody()
    }
    const pending: PendingPayload = { head, body: known, whole: known !== undefined, copy: undefined }
    this.#payload = pending
    if (!this.recording.withholds(status))
      return { payload: known === undefined ? (this.#copy(pending, payload) ?? payload) : payload }
    this.#withhold(pending, payload)
    return undefined
  }

  /** Makes the methods of the framework's reply for fields note who writes, under which status. */
  watch(methods: FieldMethods, status: () => number): FieldMethods {
    const onSet = (name: unknown): void => this.#errorFields.note(status(), name)
    return watchedMethods(methods, { writers: this.writers, side: this, onSet })
  }

  /** Called when the handler returns nothing: a client that has left then gets no empty response. */
  returnedNothing(): void {
    if (this.isConnectionGone && this.#payload === undefined) this.#abort()
  }

  /** True if the handler has sent a payload, which asynchronous hooks may still have. */
  get hasPayload(): boolean {
    return this.#payload !== undefined
  }

  /** True if the whole of another response was sent: whatever the handler still sends is ignored. */
  get isReplaced(): boolean {
    return this.mode === 'replaced'
  }

  /** Lets the framework send another response instead. */
  reopen(): void {
    this.stopGuardingDestroy()
    showAsOpen(this.res)
    this.replacing = true
  }

  protected override headOf(args: readonly unknown[]): WrittenHead {
    if (this.#over || this.replacing) return { kind: 'ignored' }
    const { status, fields: outer } = parseHead(this.res, args)
    const pending = this.#payload
    // Node gets the head now: no hook can add a field any more.
    if (pending?.head.status !== status) {
      return { kind: 'foreign', head: { status, ...this.writers.byWriter(outer), bodyLength: undefined, final: true } }
    }
    return { kind: 'recorded', head: { ...pending.head, outer, final: true } }
  }

  protected override answersNotModified(head: ResponseHead): NotModified | undefined {
    const body = this.#payload?.body
    return head.bodyLength === undefined || body === undefined
      ? undefined
      : this.recording.answersNotModified(head, body)
  }

  protected override settleImplicitHead(): void {
    if (this.detached?.open === true && !this.headSeen) this.res.writeHead(this.res.statusCode)
  }

  /** The recorded body is that of the hook. */
  protected override chunkIn(): undefined {
    return undefined
  }

  protected override recordHead(head: ResponseHead | undefined): void {
    if (this.#over) return
    if (head === undefined) return this.#markUnshareable()
    this.recording.head(head)
    const body = this.#payload?.body
    if (body !== undefined) this.recording.chunk(body)
  }

  protected override recordEnd(): void {
    // A later hook that dropped the stream made another body, which is not recorded.
    if (this.#payload?.whole !== true) this.#markUnshareable()
    if (this.#over) return
    this.#over = true
    // A framework that is given another payload now refuses it, as after a response that is sent.
    if (this.#withheld && !this.replacing) showAsEnded(this.res)
    this.recording.end()
  }

  protected override onClose(): void {
    this.#departure.stop()
    if (this.#over) return
    const isStream = this.#payload !== undefined && this.#payload.head.bodyLength === undefined
    if (this.#destroyed || isStream) this.#abort()
    else if (this.#response.isHijacked()) this.#markUnshareable()
    // The handler still makes its response, for the waiters, unless it knows.
    else if (!this.#departure.begin()) this.detached = new DetachedResponse(this.res, this.recording, this.#departure)
  }

  /** True if the client has left. A detached response hides that, and an HTTP/2 response never shows it. */
  protected override get isConnectionGone(): boolean {
    return unwatched(() => this.res.destroyed || this.#response.req.socket.destroyed)
  }

  #withhold(pending: PendingPayload, payload: unknown): void {
    this.#withheld = true
    this.guardDestroy()
    this.recordHead(pending.head)
    const copy = pending.whole ? undefined : this.#copy(pending, payload)
    if (copy === undefined) this.endRecording()
    else
      copy
        .once('end', () => this.endRecording())
        .once('error', () => this.#abort())
        .resume()
  }

  #copy(pending: PendingPayload, payload: unknown): ReturnType<typeof copyOfStream> {
    const onChunk = (chunk: Buffer): void => {
      // Also before the head: a hook may read the whole stream first, and the recording bounds its copy.
      if (!this.#over && this.#payload === pending) this.recording.chunk(chunk)
    }
    const onEnd = (): void => {
      pending.whole = true
    }
    const onRead = (): void => this.recording.streamRead()
    pending.copy = copyOfStream(payload, { onRead, onChunk, onEnd })?.once('close', () => {
      if (this.#payload === pending && !pending.whole && this.isConnectionGone) this.#abort()
    })
    return pending.copy
  }

  #markUnshareable(): void {
    if (!this.#over) this.recording.markUnshareable('hijacked')
    this.#over = true
  }

  /** Node has refused the head, which nobody can make again. */
  #abortRefused(): void {
    if (!this.#over) this.recording.abort('failure')
    this.#over = true
    for (const name of this.res.getHeaderNames()) this.res.removeHeader(name)
  }

  #abort(): void {
    if (!this.#over) this.recording.abort(this.#withheld || this.#destroyed ? 'failure' : 'disconnect')
    this.#over = true
  }
}

/** True for a stream that has failed before the head was out: the framework sends the error in its place. */
function hasFailed({ copy }: PendingPayload): boolean {
  return copy !== undefined && copy.errored !== null
}
