import { serve } from '@cattlegrid/http'
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common'
import type { HttpAdapterHost } from '@nestjs/core'
import { Observable } from 'rxjs'
import type { CachedHandler, CachedHandlers } from './cached-handlers.ts'
import { CachedCall } from './cached-call.ts'
import type { HandlerPlace, Platform } from './platform.ts'

/**
 * Serves cached responses behind the guards and before all interceptors: it is the first global one. If one
 * of the application's stood before it, that could have read the user, and what it makes of the handler's
 * result would be stored for every client.
 */
export class ResponseCache implements NestInterceptor {
  readonly #handlers: CachedHandlers
  readonly #adapterHost: HttpAdapterHost
  /** undefined until the app is initialised, and in an app without a web server. */
  platform: Platform | undefined

  constructor(handlers: CachedHandlers, adapterHost: HttpAdapterHost) {
    this.#handlers = handlers
    this.#adapterHost = adapterHost
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { platform } = this
    if (platform === undefined || context.getType() !== 'http') return next.handle()
    const handler = this.#handlers.find(context.getClass(), context.getHandler())
    if (handler === undefined) return next.handle()
    return new Observable((subscriber) => {
      const call = new CachedCall({ context, next, platform, subscriber, adapter: this.#adapterHost.httpAdapter })
      const exchange = platform.open(context, placeOf(context, handler), call)
      serve(exchange, handler.route)
      call.settleWith(exchange.res)
      return () => call.leave()
    })
  }
}

function placeOf(context: ExecutionContext, { place: name, versionSource }: CachedHandler): HandlerPlace {
  if (versionSource.kind !== 'field') return { name, routingFields: undefined }
  const { headers } = context.switchToHttp().getRequest<{ readonly headers: Readonly<Record<string, unknown>> }>()
  const value = headers[versionSource.name]
  return { name, routingFields: typeof value === 'string' ? { [versionSource.name]: value } : undefined }
}
