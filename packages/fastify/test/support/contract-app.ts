import type { Cache } from '@cattlegrid/core'
import type { AdapterServer, ContractAnswer, ContractRequest, ContractRoute } from '@cattlegrid/testkit'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import cattlegrid from '../../src/index.ts'

async function registerOnce(app: FastifyInstance, cache: Cache): Promise<readonly FastifyInstance[]> {
  await app.register(cattlegrid, { cache, close: false })
  return [app]
}

/** The contract's routes as a user of Fastify would write them. `register` returns the apps that declare them, by turns. */
export async function startFastify(
  cache: Cache,
  routes: readonly ContractRoute[],
  register: (app: FastifyInstance, cache: Cache) => Promise<readonly FastifyInstance[]> = registerOnce,
): Promise<AdapterServer> {
  const app = Fastify({ trustProxy: true, forceCloseConnections: true })
  try {
    for (const { method = 'GET' } of routes) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
    const apps = await register(app, cache)
    for (const [index, route] of routes.entries()) declare(apps[index % apps.length] ?? app, route)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    return { origin, close: () => app.close() }
  } catch (error) {
    await app.close()
    throw error
  }
}

function declare(app: FastifyInstance, route: ContractRoute): void {
  const { method = 'GET', path, cache, before, handle } = route
  app.route({
    method,
    url: path,
    config: cache === undefined ? {} : { cache },
    onRequest: async (request, reply) => {
      const door = before?.(seenBy(request, reply))
      reply.headers(door?.headers ?? {})
      door?.wrap?.(reply.raw)
      if (door?.refuse === true) await reply.code(401).send({ error: 'who are you?' })
    },
    handler: async (request, reply) => answerBy(reply, await handle(seenBy(request, reply))),
  })
}

function seenBy({ method, url, headers, query, raw: req }: FastifyRequest, reply: FastifyReply): ContractRequest {
  return { method, url, headers, query, directives: reply.cattlegrid, raw: { req, res: reply.raw } }
}

function answerBy(reply: FastifyReply, answer: ContractAnswer): FastifyReply {
  if (answer.send === 'raw') {
    answer.write(reply.raw)
    return reply.hijack()
  }
  reply.code(answer.status)
  for (const [name, value] of Object.entries(answer.headers)) reply.header(name, value)
  if (answer.send === 'stream')
    for (const [name, value] of Object.entries(answer.trailers ?? {})) reply.trailer(name, async () => value)
  return answer.send === 'nothing' ? reply.send() : reply.send(answer.body)
}
