import type { ServerResponse } from 'node:http'
import { ExpressExchange, type ExpressRequest } from '@cattlegrid/express/exchange'
import type { NodeExchange, PassedError } from '@cattlegrid/http'
import type { ExecutionContext } from '@nestjs/common'
import type { HandlerCalls, HandlerPlace, Platform } from './platform.ts'

class NestExpressExchange extends ExpressExchange {
  override readonly routingFields: HandlerPlace['routingFields']

  constructor(req: ExpressRequest, res: ServerResponse, { name, routingFields }: HandlerPlace, handler: HandlerCalls) {
    const next = (error?: unknown): void => {
      if (error === undefined) return handler.run()
      const passed = error as PassedError
      for (const [field, value] of Object.entries(passed.headers)) res.setHeader(field, value)
      return handler.fail(passed)
    }
    super(req, res, next, name)
    this.routingFields = routingFields
  }
}

export const expressPlatform: Platform = {
  open(context: ExecutionContext, place: HandlerPlace, handler: HandlerCalls): NodeExchange {
    const http = context.switchToHttp()
    return new NestExpressExchange(http.getRequest(), http.getResponse(), place, handler)
  },

  ignoreReply(context) {
    const response = context.switchToHttp().getResponse<object>()
    const ignored = (): object => response
    // What Nest calls for a handler that returned nothing, for `@Render()` and for `@Redirect()`.
    Object.assign(response, { send: ignored, render: ignored, redirect: ignored })
  },

  failLate(context, error) {
    context.switchToHttp().getNext<(error: unknown) => void>()(error)
  },
}
