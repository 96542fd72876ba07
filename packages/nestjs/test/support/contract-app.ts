import 'reflect-metadata'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import type { Cache } from '@cattlegrid/core'
import type { ResponseDirectives } from '@cattlegrid/http'
import {
  type AdapterServer,
  type ContractAnswer,
  type ContractRequest,
  type ContractRoute,
  sendStream,
} from '@cattlegrid/testkit'
import {
  Controller,
  type ExecutionContext,
  Module,
  Req,
  RequestMapping,
  RequestMethod,
  Res,
  StreamableFile,
  type Type,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { Cached, CattlegridModule } from '../../src/index.ts'
import type { Platform } from './site.ts'

interface Request {
  readonly method: string
  readonly originalUrl: string
  readonly headers: IncomingHttpHeaders
  readonly query: unknown
  readonly raw?: unknown
}

/** What the responses of Express and of Fastify share. */
interface Reply {
  readonly cattlegrid: ResponseDirectives
  readonly raw?: ServerResponse
  status(status: number): void
  header(name: string, value: unknown): void
  send(body?: unknown): void
  trailer(name: string, make: () => Promise<string>): unknown
}

/** The contract's routes as a user of Nest would write them: a controller for each. */
export async function startNest(
  platform: Platform,
  cache: Cache,
  routes: readonly ContractRoute[],
): Promise<AdapterServer> {
  class Site {}
  const imports = [CattlegridModule.forRoot({ cache, defaults: { refresh: 'behind' } })]
  const known = routes.filter(({ method = 'GET' }) => method in RequestMethod)
  Module({ imports, controllers: known.map(controllerOf) })(Site)
  const adapter = adapterOf(platform)
  for (const route of routes) if (!known.includes(route)) declareUnknown(adapter, route)
  const app = await NestFactory.create(Site, adapter, {
    logger: false,
    abortOnError: false,
    forceCloseConnections: true,
  })
  try {
    await app.listen(0, '127.0.0.1')
    const origin = (await app.getUrl()).replace('[::1]', '127.0.0.1')
    return { origin, close: () => app.close() }
  } catch (error) {
    await app.close()
    throw error
  }
}

function adapterOf(platform: Platform): ExpressAdapter | FastifyAdapter {
  if (platform === 'Fastify') return new FastifyAdapter({ trustProxy: true, forceCloseConnections: true })
  const adapter = new ExpressAdapter()
  adapter.set('trust proxy', true)
  // With no field of Express' own, a response may reach Node without any field set before.
  adapter.disable('x-powered-by')
  return adapter
}

function controllerOf({ method = 'GET', path, cache, before, handle }: ContractRoute): Type {
  const door = {
    canActivate(context: ExecutionContext): boolean {
      const http = context.switchToHttp()
      const reply: Reply = http.getResponse()
      const result = before?.(seenBy(http.getRequest(), reply))
      for (const [name, value] of Object.entries(result?.headers ?? {})) reply.header(name, value)
      result?.wrap?.(rawOf(reply))
      if (result?.refuse === true) throw new UnauthorizedException()
      return true
    },
  }
  @Controller()
  @UseGuards(door)
  @Cached(cache)
  class Route {
    @RequestMapping({ path, method: RequestMethod[method as 'GET'] ?? RequestMethod.ALL })
    async answer(@Req() request: Request, @Res({ passthrough: true }) reply: Reply): Promise<unknown> {
      return await answerBy(reply, await handle(seenBy(request, reply)))
    }
  }
  return Route
}

/** A route of a method that Nest does not know, and so does not cache: the platform's own. */
function declareUnknown(
  adapter: ExpressAdapter | FastifyAdapter,
  { method = 'GET', path, handle }: ContractRoute,
): void {
  const handler = (request: Request, reply: Reply): void => {
    void handle(seenBy(request, reply)).then((answer) => reply.send((answer as { readonly body: unknown }).body))
  }
  const app: Record<string, (...args: unknown[]) => void> = adapter.getInstance()
  if (adapter instanceof ExpressAdapter) return app[method.toLowerCase()]?.(path, handler)
  app['addHttpMethod']?.(method)
  return app['route']?.({ method, url: path, handler })
}

function seenBy(request: Request, reply: Reply): ContractRequest {
  const { method, originalUrl: url, headers, query, raw = request } = request
  const messages = { req: raw as IncomingMessage, res: rawOf(reply) }
  return { method, url, headers, query, directives: reply.cattlegrid, raw: messages }
}

function rawOf(reply: Reply): ServerResponse {
  return reply.raw ?? (reply as unknown as ServerResponse)
}

/** Nest sends nothing for a handler that does not return. */
const SENT = new Promise<never>(() => undefined)

function answerBy(reply: Reply, answer: ContractAnswer): unknown {
  if (answer.send === 'raw') {
    answer.write(rawOf(reply))
    return SENT
  }
  reply.status(answer.status)
  for (const [name, value] of Object.entries(answer.headers)) reply.header(name, value)
  if (answer.send === 'nothing') return undefined
  if (answer.send === 'stream') return streamBy(reply, answer)
  if (answer.send !== 'bytes') return answer.body
  // Nest takes a Buffer for an object.
  reply.send(answer.body)
  return SENT
}

/**
 * Nest destroys a file whose client has left, on Express: there, the contract's streams are sent without it. The Fastify of Nest's adapter sends no
 * trailers behind a stream.
 */
function streamBy(reply: Reply, { body, trailers }: ContractAnswer & { readonly send: 'stream' }): unknown {
  if (reply.raw === undefined) {
    sendStream(rawOf(reply), body, trailers)
    return SENT
  }
  if (trailers === undefined) return new StreamableFile(body)
  for (const [name, value] of Object.entries(trailers)) reply.trailer(name, async () => value)
  return textOf(body)
}
