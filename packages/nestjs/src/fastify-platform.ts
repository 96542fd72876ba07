import { HandlerExchanges } from '@cattlegrid/fastify/handler-exchanges'
import type { ExecutionContext } from '@nestjs/common'
import type { HttpAdapterHost } from '@nestjs/core'
import type { Platform } from './platform.ts'

type Reply = Parameters<HandlerExchanges['open']>[1]

/** Adds a hook and decorators to the Fastify app, which must not be ready yet. */
export function fastifyPlatform(adapter: HttpAdapterHost['httpAdapter']): Platform {
  const exchanges = new HandlerExchanges(adapter.getInstance())
  const replyOf = (context: ExecutionContext): Reply => context.switchToHttp().getResponse<Reply>()
  return {
    open(context, place, handler) {
      return exchanges.open(context.switchToHttp().getRequest(), replyOf(context), place, handler)
    },

    ignoreReply(context) {
      const reply = replyOf(context)
      const ignored = (): Reply => reply
      // What Nest calls for a handler that returned nothing and for `@Redirect()`, and for `@Render()`.
      Object.assign(reply, { send: ignored, view: ignored })
    },

    failLate(context, error) {
      replyOf(context).send(error)
    },
  }
}
