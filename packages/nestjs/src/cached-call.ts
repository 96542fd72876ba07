import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardPayload, notePassedError, ownListener, type PassedError } from '@cattlegrid/http'
import { type CallHandler, type ExecutionContext, HttpException, StreamableFile } from '@nestjs/common'
import type { HttpAdapterHost } from '@nestjs/core'
import type { Subscriber } from 'rxjs'
import type { HandlerCalls, Platform } from './platform.ts'

/** One request to a cached handler, between the cache and Nest. */
interface CachedCallContext {
  readonly context: ExecutionContext
  readonly next: CallHandler
  readonly platform: Platform
  /** Nest, which sends what it gets. */
  readonly subscriber: Subscriber<unknown>
  readonly adapter: HttpAdapterHost['httpAdapter']
}

/**
 * One call of a cached handler. Nest gets what the handler returned, and sends it. If the cache has answered,
 * Nest gets undefined, as from a handler that sends its own response, and sends nothing.
 */
export class CachedCall implements HandlerCalls {
  readonly #call: CachedCallContext
  /** `left`: Nest has dropped the call, because its client disconnected. */
  #state: 'waiting' | 'running' | 'left' | 'ended' = 'waiting'
  #stopWaiting: (() => void) | undefined

  constructor(call: CachedCallContext) {
    this.#call = call
  }

  run(): void {
    this.#state = 'running'
    this.#stopWaiting?.()
    this.#subscribe()
  }

  fail(error: PassedError): void {
    const { subscriber, platform, context } = this.#call
    const exception = exceptionFor(error)
    if (this.#state === 'ended' || subscriber.closed) return platform.failLate(context, exception)
    this.#state = 'ended'
    subscriber.error(exception)
  }

  /** Ends Nest's part once the cache has answered in the handler's place, or the client has left. */
  settleWith(res: ServerResponse): void {
    if (this.#state !== 'waiting') return
    if (res.writableEnded) return this.#settle()
    const settle = ownListener((): void => this.#settle())
    res.once('close', settle)
    // A response has many listeners already: Node warns of the eleventh.
    const stopWaiting = (): unknown => res.off('close', settle)
    this.#stopWaiting = stopWaiting
  }

  /**
   * Nest drops the observable of a handler when its client disconnects. The handler goes on for those that
   * wait for its response.
   */
  leave(): void {
    if (this.#state === 'running') this.#state = 'left'
  }

  #settle(): void {
    const { subscriber, platform, context } = this.#call
    if (this.#state !== 'waiting') return
    this.#state = 'ended'
    platform.ignoreReply(context)
    subscriber.next(undefined)
    subscriber.complete()
  }

  #subscribe(): void {
    const { next, subscriber } = this.#call
    let last: unknown
    next.handle().subscribe({
      next: (value) => {
        last = value
        if (this.#state === 'running') subscriber.next(value)
        else if (this.#state === 'ended' && value instanceof StreamableFile) discardPayload(value.getStream())
      },
      error: (error: unknown) => {
        notePassedError(this.#rawRequest, error)
        this.#end(() => subscriber.error(error), { statusCode: 500 }, 500)
      },
      complete: () => this.#end(() => subscriber.complete(), last),
    })
  }

  /** Fastify's requests have Node's. */
  get #rawRequest(): IncomingMessage {
    const request = this.#call.context.switchToHttp().getRequest<IncomingMessage & { readonly raw?: IncomingMessage }>()
    return request.raw ?? request
  }

  /** Passes the end on to Nest; sends the response itself if Nest has dropped the call. */
  #end(passOn: () => void, body: unknown, status?: number): void {
    const { adapter, context } = this.#call
    const state = this.#state
    if (state === 'ended') return
    this.#state = 'ended'
    if (state === 'running') return passOn()
    const response: unknown = context.switchToHttp().getResponse()
    if (!adapter.isHeadersSent(response)) adapter.reply(response, body, status)
  }
}

/** The exception that filters get: one of Nest's own, so that it is no unknown error. */
function exceptionFor(error: PassedError): HttpException {
  return new HttpException({ statusCode: error.statusCode, message: error.message }, error.statusCode, { cause: error })
}
