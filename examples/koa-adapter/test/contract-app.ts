import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Router } from '@koa/router'
import type { Cache } from '@cattlegrid/core'
import { directivesOf } from '@cattlegrid/http'
import {
  type AdapterServer,
  type ContractAnswer,
  type ContractRequest,
  type ContractRoute,
  sendStream,
} from '@cattlegrid/testkit'
import Koa, { type Context, type Middleware } from 'koa'
import { type Cached, koaCache } from '../src/koa-cache.ts'

/** The contract's routes as a user of Koa would write them. */
export async function startKoa(cache: Cache, routes: readonly ContractRoute[]): Promise<AdapterServer> {
  const app = new Koa({ proxy: true })
  app.silent = true
  const router = new Router()
  const cached = koaCache(cache)
  for (const route of routes) declare(router, cached, route)
  app.use(router.routes())
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    const closed = new Promise<unknown>((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

function declare(router: Router, cached: Cached, { method = 'GET', path, cache, before, handle }: ContractRoute): void {
  const door: Middleware = async (ctx, next) => {
    const result = before?.(seenBy(ctx))
    ctx.set({ ...result?.headers })
    result?.wrap?.(ctx.res)
    if (result?.refuse !== true) return await next()
    ctx.status = 401
    ctx.body = { error: 'who are you?' }
  }
  const handler: Middleware = async (ctx) => {
    // Koa sends nothing for a rejection with nothing.
    const answer = await handle(seenBy(ctx)).catch((error: unknown) => {
      throw error ?? new Error('rejected with nothing')
    })
    answerBy(ctx, answer)
  }
  router.register(path, [method], [door, cached(cache), handler])
}

function seenBy(ctx: Context): ContractRequest {
  const { method, originalUrl: url, headers, query, req, res } = ctx
  return { method, url, headers, query: { ...query }, directives: directivesOf(res), raw: { req, res } }
}

function answerBy(ctx: Context, answer: ContractAnswer): void {
  if (answer.send === 'raw') {
    ctx.respond = false
    ctx.res.statusCode = 200
    return answer.write(ctx.res)
  }
  // Koa takes that for 204.
  if (answer.send === 'nothing') ctx.body = null
  ctx.status = answer.status
  for (const [name, value] of Object.entries(answer.headers))
    ctx.set(name, typeof value === 'string' ? value : [...value])
  if (answer.send === 'nothing') return
  if (answer.send === 'stream' && answer.trailers !== undefined) {
    ctx.respond = false
    sendStream(ctx.res, answer.body, answer.trailers)
  } else ctx.body = answer.body
}
