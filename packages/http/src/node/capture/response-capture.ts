import { queueOwnMicrotask } from '../../microtask.ts'
import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import { type Chunk, chunkOf, endRefuses } from '../../fields/body-arguments.ts'
import { addToHead, fieldsIn, sentFields, setInsteadOf } from '../../fields/head-arguments.ts'
import { isHeadSent } from '../../fields/response-state.ts'
import type { HeaderFields } from '../../fields/header-fields.ts'
import { type ResponseHead, withOuter } from '../../response/response-head.ts'
import { refusingAfterEnd } from './after-end.ts'
import { ownListener } from './close-listeners.ts'
import { DestroyGuard } from './destroy-guard.ts'
import { type DetachedResponse, discardChunk } from './detached-response.ts'
import { FieldWriters } from './field-writers.ts'
import { HandlerScope } from './handler-scope.ts'
import { discardPayload } from './payload.ts'
import { InnerHead } from './inner-head.ts'
import { LeftBody } from './left-body.ts'
import type { NotModified, Recording } from '../../recorder/recording.ts'
import { type CallOriginal, ignoreOnceSent, replaceMethods, snapshotOf } from './response-methods.ts'
import { watchedNodeMethods } from './watched-methods.ts'

/**
 * The head that `writeHead` gets: `recorded`; `foreign`, of a response that the handler or an outer layer
 * wrote past the recording; `ignored`, of a response that is sent instead, or once the recording is over.
 */
export type WrittenHead =
  { readonly kind: 'recorded' | 'foreign'; readonly head: ResponseHead } | { readonly kind: 'ignored' }

/** Follows a response through the methods that send it. Subclasses say what of it is the handler's. */
export abstract class ResponseCapture {
  protected readonly res: ServerResponse
  protected readonly recording: Recording
  protected readonly innerHead: InnerHead
  /** Who has written which field. */
  readonly writers: FieldWriters
  /** What leaves the layers outside. */
  protected readonly left: LeftBody
  /** `send`: to the client. `discard`: nowhere. `replaced`: another response was sent instead. */
  protected mode: 'send' | 'discard' | 'replaced' = 'send'
  /** The framework sends another response, by the same methods: with its end the mode becomes `replaced`. */
  protected replacing = false
  protected headSeen = false
  protected ended = false
  /** Set if the client left before the head was out: the handler goes on for the waiters. */
  protected detached: DetachedResponse | undefined
  /** The client gets a 304. */
  protected bodiless = false
  readonly #scope = new HandlerScope()
  readonly #original: CallOriginal
  /** Unlike `ended`, not of the response that is sent instead. */
  #handlerEnded = false
  #guard: DestroyGuard | undefined
  /** The original `end` runs: that of HTTP/2 calls `write` for its chunk. */
  #ending = false

  /** `before`: the fields that are set when the handler begins. */
  constructor(res: ServerResponse, recording: Recording, before: HeaderFields) {
    this.res = res
    this.recording = recording
    this.writers = new FieldWriters(before)
    this.left = new LeftBody(res)
    recording.leaves?.(this.left)
    const call = replaceMethods(res, {
      writeHead: (...args) => this.#writeHead(args),
      write: (...args) => this.#write(args),
      end: (...args) => this.#end(args),
      flushHeaders: () => {
        this.settleImplicitHead()
        if (this.mode === 'send' && this.detached === undefined) this.original('flushHeaders', [])
      },
      // A stored response has no trailers (RFC 9111 section 3.1).
      addTrailers: (...args) => void (this.mode === 'send' && this.original('addTrailers', args)),
      ...watchedNodeMethods(
        { read: (method, args) => this.#original(method, args), write: (method, args) => this.original(method, args) },
        { writers: this.writers, side: this, onSet: (name) => this.onFieldSet?.(name) },
      ),
    })
    this.#original = refusingAfterEnd(res, call)
    this.innerHead = new InnerHead(res)
    const onClose = ownListener(() => (this.onClose(), this.#scope.close()))
    res.once('close', onClose)
  }

  /** Runs the handler whose response this is. */
  run(handler: () => void): void {
    this.#scope.runInside(handler)
  }

  /** Calls a method as the layers outside, or Node, have made it. */
  protected original(...[method, args]: Parameters<CallOriginal>): unknown {
    return this.#outside(() => (method === 'end' ? this.#originalEnd(args) : this.#original(method, args)))
  }

  protected abstract headOf(args: readonly unknown[]): WrittenHead

  protected abstract answersNotModified(head: ResponseHead): NotModified | undefined

  /**
   * Settles an implicit head before the body. Writes it at once if it is withheld or the client has left:
   * Node's own, inside `end`, would come too late or never. `whole`: the body, if `end` brings all of it;
   * `passed`: what `end` was given.
   */
  protected abstract settleImplicitHead(whole?: Chunk, passed?: Chunk): void

  /** The part of the recorded body among these arguments of `write` or `end`. */
  protected abstract chunkIn(args: readonly unknown[]): Chunk | undefined

  /** Called when Node has accepted the head, or when it is withheld. */
  protected abstract recordHead(head: ResponseHead | undefined): void

  protected abstract recordEnd(): void

  /** Called when an outer layer or Node has thrown before the head was out: another response follows. */
  protected onHeadThrown(): void {
    this.bodiless = false
  }

  /** Called when the connection closes, also after a whole response. */
  protected abstract onClose(): void

  protected abstract get isConnectionGone(): boolean

  /** A handler that sees its client leave often fails for that reason. Waiters must not get that failure. */
  protected failsForDisconnect(status: number): boolean {
    return this.isConnectionGone && status >= 400
  }

  protected endRecording(): void {
    this.#handlerEnded ||= !this.replacing
    this.recordEnd()
  }

  /**
   * From now on a `destroy` by the handler only ends its recording. The connection closes after the cache's
   * response, which says `Connection: close` if its head is not sent yet.
   */
  protected guardDestroy(): void {
    const { res, recording } = this
    this.#guard?.enable()
    this.#guard ??= new DestroyGuard(res, (destroy) => {
      if (!this.mayBeHandler) return destroy()
      res.shouldKeepAlive = false
      return recording.abort('failure')
    })
  }

  /** True if code of a layer outside runs, for certain. */
  get isOutside(): boolean {
    return this.#scope.side === 'outside'
  }

  /** Called before a field is set, or a line is added to it. */
  protected onFieldSet?(name: unknown): void

  /** True if the code that runs is certainly the handler's. */
  get isHandler(): boolean {
    return this.#scope.side === 'inside'
  }

  /** True if the code that runs may be the handler's. After the close, only the handler uses its response. */
  protected get mayBeHandler(): boolean {
    const { side, closed } = this.#scope
    return side === 'inside' || (side === undefined && (closed || !this.#handlerEnded))
  }

  /** Called before a response is sent in the place of the recorded one. */
  protected stopGuardingDestroy(): void {
    this.#guard?.disable()
  }

  /**
   * Ignores what the handler still does with its response: an error there could end the process, and a byte
   * would belong to a connection that already serves another request. A stream that it pipes is destroyed, as
   * nobody reads it. An outer layer may delay the end: until the head is out, fields can be set. `status`:
   * that of the response which is sent instead.
   */
  protected ignoreHandler(status: number): void {
    const { res } = this
    this.mode = 'replaced'
    this.guardDestroy()
    // Layers outside must see the real `res.socket` at `finish`: some compare it with the one they counted.
    res.prependOnceListener('finish', () => {
      this.stopGuardingDestroy()
      queueOwnMicrotask(() => this.guardDestroy())
    })
    // Node calls it within `end`. Layers inside that replaced it have no part in this response.
    Reflect.set(res, 'writeHead', () => (isHeadSent(res) ? res : this.original('writeHead', [status])))
    ignoreOnceSent(res)
    res.on('pipe', discardPayload)
  }

  /** Returns a function that gives these fields the values back that they have now. */
  protected snapshot(names: readonly string[]): () => void {
    const set = (name: string, value: unknown): unknown => this.original('setHeader', [name, value])
    return snapshotOf(this.res, names, (name) => this.#present(name), set)
  }

  #present(name: unknown): OutgoingHttpHeader | undefined {
    return this.#original('getHeader', [name]) as OutgoingHttpHeader | undefined
  }

  #outside<T>(call: () => T): T {
    try {
      return this.recording.outside(() => this.#scope.runOutside(call))
    } catch (error) {
      if (!this.headSeen) this.onHeadThrown()
      throw error
    }
  }

  #writeHead(args: readonly unknown[]): unknown {
    if (this.innerHead.takes(args) || this.mode !== 'send') return this.res
    if (this.headSeen) return this.original('writeHead', args)
    const written = this.headOf(args)
    if (written.kind === 'ignored') this.original('writeHead', args)
    else if (written.kind === 'foreign') this.#sendHead(written.head, args, 'hijacked')
    else if (this.recording.withholds(written.head.status)) this.#discardWrites()
    else this.#sendHead(written.head, args)
    this.headSeen = true
    const head = written.kind === 'recorded' ? written.head : undefined
    // Outer layers add fields while the head passes them, such as the cookie of a session.
    this.recordHead(head === undefined || this.mode !== 'send' ? head : withOuter(head, sentFields(this.res)))
    return this.res
  }

  #discardWrites(): void {
    this.mode = 'discard'
    this.guardDestroy()
  }

  /** If Node refuses the head, its fields are taken back: the handler's next try is another head. */
  #sendHead(head: ResponseHead, args: readonly unknown[], foreign?: 'hijacked'): void {
    const { res } = this
    const added = this.recording.extraFields(head, foreign)
    const notModified = foreign === undefined ? this.answersNotModified(head) : undefined
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
    // An outer layer may delay the answer's `end`, which over HTTP/2 calls `write`.
    const isOfAnswer = this.mode === 'replaced' && this.#scope.side === 'outside'
    if (this.#ending || isOfAnswer) return this.original('write', args) !== false
    this.settleImplicitHead()
    if (this.mode === 'replaced') return discardChunk(args)
    if (!this.#discards) this.left.passOn(args)
    const accepted = this.#discards ? discardChunk(args) : this.original('write', args) !== false
    const chunk = this.chunkIn(args)
    if (chunk !== undefined) this.recording.chunk(chunk)
    // The copy is bounded, so the handler need not wait for a slow client.
    return this.recording.copying || accepted
  }

  get #discards(): boolean {
    // After the end, Node itself refuses the write.
    const isBodiless = this.bodiless && !this.ended
    return isBodiless || this.mode === 'discard' || this.detached?.open === true
  }

  #end(args: readonly unknown[]): unknown {
    // Node throws for these arguments. Nothing may be sent before.
    if (this.mode === 'send' && endRefuses(args)) return this.original('end', args)
    const chunk = this.chunkIn(args)
    this.settleImplicitHead(chunk ?? '', chunkOf(args) ?? '')
    if (this.mode === 'send') this.#sendEnd(args)
    else discardChunk(args)
    if (this.mode === 'replaced' || this.ended) return this.res
    this.ended = true
    if (chunk !== undefined) this.recording.chunk(chunk)
    this.endRecording()
    if (this.replacing) this.ignoreHandler(this.res.statusCode)
    this.detached?.finish()
    return this.res
  }

  #originalEnd(args: readonly unknown[]): unknown {
    this.#ending = true
    this.left.passOn(args)
    try {
      return this.#original('end', args)
    } finally {
      this.#ending = false
    }
  }

  /** Layers outside end with the response, even without a body: one of them may save a session. */
  #sendEnd(args: readonly unknown[]): void {
    if (this.detached?.open === true) {
      discardChunk(args)
      this.original('end', [])
    } else this.original('end', this.bodiless ? args.filter((argument) => typeof argument === 'function') : args)
  }
}
