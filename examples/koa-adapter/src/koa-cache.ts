import type { IncomingMessage, ServerResponse } from 'node:http'
import { Stream } from 'node:stream'
import type { Cache } from '@cattlegrid/core'
import {
  type Answer,
  compileRoute,
  httpCache,
  MiddlewareExchange,
  nextDeclaration,
  ownListener,
  type Recording,
  type RouteOptions,
  serve,
  type UrlRewrite,
} from '@cattlegrid/http'
import type { Context, Middleware, Next } from 'koa'

/** Makes a middleware for an app, a router or a route. Options that are functions get Koa's context, as request and as response. */
export type Cached = (options?: RouteOptions<Context, Context>) => Middleware

export function koaCache(cache: Cache, defaults?: RouteOptions<Context, Context>): Cached {
  const http = httpCache(cache)
  return (options) => {
    const route = compileRoute('cached', http, defaults, options)
    const place = nextDeclaration(http)
    return (ctx, next) =>
      new Promise((resolve, reject) => {
        const exchange: KoaExchange = new KoaExchange(ctx, place, { next, resolve, reject }, (error) => {
          if (error === undefined) void exchange.runInside()
          else exchange.failOutside(error)
        })
        serve(exchange, route)
      })
  }
}

/** The layers inside, and how the middleware ends for those outside. */
interface Layers {
  readonly next: Next
  readonly resolve: (value?: undefined) => void
  readonly reject: (error: unknown) => void
}

/** Node's exchange, with what Koa defines differently: the layers outside change the response, and only then Koa writes it. */
class KoaExchange extends MiddlewareExchange<IncomingMessage, Context, Context> {
  readonly #ctx: Context
  readonly #layers: Layers
  #handler: 'waits' | 'runs' | 'is recorded' | 'has returned' = 'waits'

  constructor(ctx: Context, place: number, layers: Layers, next: (error?: unknown) => void) {
    super(ctx.req, ctx.res, next, place)
    this.#ctx = ctx
    this.#layers = layers
    // A client that leaves while it waits gets no answer; `onError` may have sent one.
    ctx.res.once(
      'close',
      ownListener(() => this.#handler === 'waits' && layers.resolve()),
    )
  }

  override get request(): Context {
    return this.#ctx
  }

  override get response(): Context {
    return this.#ctx
  }

  override get state(): object {
    return this.#ctx.state
  }

  override get scheme(): string {
    return this.#ctx.protocol
  }

  override get host(): string {
    return this.#ctx.host
  }

  /** They may set another `ctx.body`. */
  override get replacesBodies(): boolean {
    return true
  }

  override get target(): string {
    return this.#ctx.originalUrl
  }

  override rewriteUrl(rewrite: UrlRewrite): (() => void) | undefined {
    const { request, originalUrl } = this.#ctx
    const undo = super.rewriteUrl(rewrite)
    if (undo === undefined) return undefined
    this.#ctx.originalUrl = request.originalUrl = rewrite.url(originalUrl)
    return () => {
      undo()
      this.#ctx.originalUrl = request.originalUrl = originalUrl
    }
  }

  override run(recording: Recording): void {
    this.#handler = 'is recorded'
    super.run(recording)
  }

  override send(answer: Answer): void {
    // Once a handler runs, it may still change the context: the answer then goes to Node's response, past the layers outside.
    if (this.#handler !== 'waits') super.send(answer)
    else this.#sendByKoa(answer)
    this.#layers.resolve()
  }

  dispatch(req: IncomingMessage, res: ServerResponse): void {
    void this.#ctx.app.callback()(req, res)
  }

  async runInside(): Promise<void> {
    const { next, resolve, reject } = this.#layers
    const isRecorded = this.#handler === 'is recorded'
    this.#handler = isRecorded ? 'is recorded' : 'runs'
    try {
      await next()
      if (isRecorded) this.#handOverBody()
      resolve()
    } catch (error) {
      this.noteError(error)
      this.handOver(undefined)
      reject(error)
    }
    this.#handler = 'has returned'
  }

  failOutside(error: unknown): void {
    // Koa's error handling itself, where the layers outside have run.
    if (this.#handler === 'has returned') this.#ctx.onerror(error as Error)
    else this.#layers.reject(error)
  }

  #sendByKoa({ status, removed, fields, extraFields, body }: Answer): void {
    const ctx = this.#ctx
    ctx.status = status
    for (const name of removed) ctx.remove(name)
    ctx.set({ ...fields, ...extraFields })
    if (body !== undefined) ctx.body = body
  }

  /** Koa writes a text of its own where there is no body; and nothing where the handler has written to Node's response. */
  #handOverBody(): void {
    const ctx = this.#ctx
    const body: unknown = ctx.respond === false ? undefined : ctx.body
    if (body === undefined || body === null) return void this.handOver(undefined)
    const length = ctx.response.get('content-length')
    ctx.body = this.handOver(payloadOf(body))
    // Koa drops that of a stream which another one replaces.
    if (length) ctx.set('content-length', length)
  }
}

/** The body as Koa would write it. */
function payloadOf(body: unknown): unknown {
  if (body instanceof Blob) return body.stream()
  if (body instanceof Response) return body.body ?? ''
  const isWritten = [String, Buffer, Stream, ReadableStream].some((kind) => Object(body) instanceof kind)
  return isWritten ? body : JSON.stringify(body)
}
