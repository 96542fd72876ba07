import type { ServerResponse } from 'node:http'
import { endRefuses } from '../fields/body-arguments.ts'
import { addToHead, fieldsIn, isHeadSent, sentFields, setInsteadOf } from '../fields/head-arguments.ts'
import { type HeaderFields, toText } from '../fields/header-fields.ts'
import type { ResponseHead } from '../response/response-head.ts'
import { DestroyGuard } from './destroy-guard.ts'
import { type DetachedResponse, discardChunk } from './detached-response.ts'
import { HandlerScope } from './handler-scope.ts'
import { discardPayload } from './payload.ts'
import { InnerHead } from './inner-head.ts'
import type { NotModified, Recording } from './recording.ts'
import { type CallOriginal, replaceMethods } from './response-methods.ts'

const NOTHING = new Uint8Array()

/** The methods that change what follows the end, besides those that look at the mode. */
const IGNORED = [
  'setHeader',
  'setHeaders',
  'appendHeader',
  'removeHeader',
  'writeContinue',
  'writeEarlyHints',
  'writeProcessing',
] as const

/** Follows a response through the methods that send it. A subclass says which head and which bytes are the handler's. */
export abstract class ResponseCapture {
  protected readonly res: ServerResponse
  protected readonly recording: Recording
  protected readonly original: CallOriginal
  protected readonly innerHead: InnerHead
  /** `pass`: the response goes to its client. `withhold`: it goes nowhere. `replaced`: another response was sent instead. */
  protected mode: 'pass' | 'withhold' | 'replaced' = 'pass'
  /** The framework sends another response, by the same methods: with its end the mode becomes `replaced`. */
  protected replacing = false
  protected headSeen = false
  protected ended = false
  /** Set if the client left before the head was out: the handler goes on for the waiters. */
  protected detached: DetachedResponse | undefined
  /** The client gets a 304. */
  protected bodiless = false
  readonly #scope = new HandlerScope()
  /** Unlike `ended`, not of the response that is sent instead. */
  #handlerEnded = false
  #guard: DestroyGuard | undefined
  /** The original `end` runs: that of HTTP/2 calls `write` for its chunk. */
  #ending = false

  constructor(res: ServerResponse, recording: Recording) {
    this.res = res
    this.recording = recording
    const original = replaceMethods(res, {
      writeHead: (...args) => this.#writeHead(args),
      write: (...args) => this.#write(args),
      end: (...args) => this.#end(args),
      flushHeaders: () => {
        this.beforeBody()
        if (this.mode === 'pass' && this.detached === undefined) this.original('flushHeaders', [])
      },
      // A stored response has no trailers (RFC 9111 section 3.1).
      addTrailers: (...args) => {
        if (this.mode === 'pass') this.original('addTrailers', args)
      },
    })
    this.original = (method, args) =>
      this.#outside(() => (method === 'end' ? this.#originalEnd(original, args) : original(method, args)))
    this.innerHead = new InnerHead(res)
    res.once('close', () => {
      this.onClose()
    })
  }

  /** Runs the handler whose response this is. */
  run(handler: () => void): void {
    this.#scope.runInside(handler)
  }

  /** The head that these arguments of `writeHead` make; undefined if it is not the head of the recorded response. */
  protected abstract headOf(args: readonly unknown[]): ResponseHead | undefined

  /** The head that these arguments make, where the handler has written another response than the recorded one. */
  protected abstract foreignHeadOf(args: readonly unknown[]): ResponseHead | undefined

  protected abstract answersNotModified(head: ResponseHead): NotModified | undefined

  /**
   * Writes an implicit head that must be known before the body. Node writes it inside `end`, which is too late for a head that is withheld,
   * and does not write it at all if the client has left. `whole`: the body, if `end` brings all of it.
   */
  protected abstract beforeBody(whole?: Uint8Array): void

  /** The bytes of the recorded body among these arguments of `write` or `end`. */
  protected abstract bodyIn(args: readonly unknown[]): Uint8Array | undefined

  /** Called when Node has accepted the head, or when it is withheld. */
  protected abstract recordHead(head: ResponseHead | undefined): void

  protected abstract recordEnd(): void

  /** Called when an outer layer or Node has thrown before the head was out: the handler's next response is another one. */
  protected onRefused(): void {
    this.bodiless = false
  }

  /** Called when the connection closes, also after a whole response. */
  protected abstract onClose(): void

  protected abstract get clientLeft(): boolean

  /** A handler that notices that its client has left often fails for that reason alone. Waiters must not get that failure. */
  protected failsForDeparture(status: number): boolean {
    return this.clientLeft && status >= 400
  }

  protected endRecording(): void {
    this.#handlerEnded ||= !this.replacing
    this.recordEnd()
  }

  /**
   * From now on, a `destroy` by the handler ends its recording, and the connection only after the response that the cache sends on it: `Connection:
   * close`, as long as that has no head.
   */
  protected guardDestroy(): void {
    const { res, recording } = this
    this.#guard?.enable()
    this.#guard ??= new DestroyGuard(res, (destroy) => {
      if (!this.#mayBeHandler) return destroy()
      res.shouldKeepAlive = false
      return recording.abort('handler')
    })
  }

  /** True if the code that runs may be the handler's. */
  get #mayBeHandler(): boolean {
    const { side } = this.#scope
    return side === 'inside' || (side === undefined && !this.#handlerEnded)
  }

  /** Called before a response is sent in the place of the recorded one. */
  protected stopGuardingDestroy(): void {
    this.#guard?.disable()
  }

  /**
   * Ignores what the handler still does with its response: an error there could end the process, and a byte would belong to a connection that already
   * serves another request. A stream that it pipes is destroyed, as nobody reads it. An outer layer may delay the end: until the head is out, fields can be set.
   */
  protected ignoreHandler(): void {
    const { res } = this
    const { statusCode } = res
    this.mode = 'replaced'
    this.guardDestroy()
    // Layers outside that count connections compare them when the response has finished.
    res.prependOnceListener('finish', () => {
      this.stopGuardingDestroy()
      queueMicrotask(() => this.guardDestroy())
    })
    // Node calls it within `end`. The layers inside, which may have replaced it, have no part in this response.
    Reflect.set(res, 'writeHead', () => (isHeadSent(res) ? res : this.original('writeHead', [statusCode])))
    for (const name of IGNORED) {
      const method = res[name] as (...args: unknown[]) => unknown
      Reflect.set(res, name, (...args: unknown[]) => (isHeadSent(res) ? res : Reflect.apply(method, res, args)))
    }
    res.on('pipe', discardPayload)
  }

  /** Returns a function that gives these fields the values back that they have now. */
  protected snapshot(names: readonly string[]): () => void {
    const { res } = this
    const before = names.map((name) => [name, toText(res.getHeader(name))] as const)
    return () => {
      for (const [name, value] of before)
        if (value === undefined) res.removeHeader(name)
        else this.original('setHeader', [name, value])
    }
  }

  #outside<T>(call: () => T): T {
    try {
      return this.recording.outside(() => this.#scope.runOutside(call))
    } catch (error) {
      if (!this.headSeen) this.onRefused()
      throw error
    }
  }

  #writeHead(args: readonly unknown[]): unknown {
    if (this.innerHead.takes(args) || this.mode !== 'pass') return this.res
    if (this.headSeen) return this.original('writeHead', args)
    const head = this.headOf(args)
    if (head === undefined) this.#sendForeignHead(args)
    else if (this.recording.withholds(head.status)) this.#withhold()
    else this.#sendHead(head, args)
    this.headSeen = true
    // Outer layers add fields while the head passes them, such as the cookie of a session.
    this.recordHead(head === undefined || this.mode !== 'pass' ? head : withOuter(head, sentFields(this.res)))
    return this.res
  }

  #withhold(): void {
    this.mode = 'withhold'
    this.guardDestroy()
  }

  #sendForeignHead(args: readonly unknown[]): void {
    const head = this.foreignHeadOf(args)
    if (head === undefined) this.original('writeHead', args)
    else this.#sendHead(head, args, 'hijacked')
  }

  /** If Node refuses the head, its fields are taken back: the handler's next try is another head. */
  #sendHead(head: ResponseHead, args: readonly unknown[], refused?: 'hijacked'): void {
    const { res } = this
    const added = this.recording.extraFields(head, refused)
    const notModified = refused === undefined ? this.answersNotModified(head) : undefined
    const set = Object.keys({ ...fieldsIn(args), ...added, ...notModified?.fields })
    const takeBack = this.snapshot([...set, ...(notModified?.removed ?? [])])
    const final = notModified === undefined ? args : setInsteadOf(res, args, 304, notModified)
    try {
      this.original('writeHead', addToHead(res, final, added))
    } catch (error) {
      takeBack()
      throw error
    }
    this.bodiless = notModified !== undefined
  }

  #write(args: readonly unknown[]): boolean {
    // An outer layer that delays the end calls it later: that of HTTP/2 calls `write` then.
    const isOfAnswer = this.mode === 'replaced' && this.#scope.side === 'outside'
    if (this.#ending || isOfAnswer) return this.original('write', args) === true
    this.beforeBody()
    if (this.mode === 'replaced') return discardChunk(args)
    const bodiless = this.bodiless && !this.ended
    const discards = bodiless || this.mode === 'withhold' || this.detached?.open === true
    const accepted = discards ? discardChunk(args) : this.original('write', args) === true
    const bytes = this.bodyIn(args)
    if (bytes !== undefined) this.recording.chunk(bytes)
    // The copy is bounded, so the handler need not wait for a slow client.
    return this.recording.copying || accepted
  }

  #end(args: readonly unknown[]): unknown {
    // Node throws for these arguments. Nothing may be sent before.
    if (this.mode === 'pass' && endRefuses(args)) return this.original('end', args)
    const bytes = this.bodyIn(args)
    this.beforeBody(bytes ?? NOTHING)
    if (this.mode === 'pass') this.#sendEnd(args)
    else discardChunk(args)
    if (this.mode === 'replaced' || this.ended) return this.res
    this.ended = true
    if (bytes !== undefined) this.recording.chunk(bytes)
    this.endRecording()
    if (this.replacing) this.ignoreHandler()
    this.detached?.finish()
    return this.res
  }

  #originalEnd(original: CallOriginal, args: readonly unknown[]): unknown {
    this.#ending = true
    try {
      return original('end', args)
    } finally {
      this.#ending = false
    }
  }

  /** Layers outside end with the response, also if its client gets no body: one of them may save a session. */
  #sendEnd(args: readonly unknown[]): void {
    if (this.detached?.open === true) {
      discardChunk(args)
      this.original('end', [])
    } else if (this.bodiless) {
      const callback = args.filter((argument) => typeof argument === 'function')
      this.original('end', callback)
    } else this.original('end', args)
  }
}

function withOuter(
  { status, fields, before, errorFields, bodyLength, form, final }: ResponseHead,
  outer: HeaderFields,
): ResponseHead {
  return { status, fields, before, outer, errorFields, bodyLength, form, final }
}
