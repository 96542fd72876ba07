import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { withApp } from './support/cached-app.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
type Row = readonly [title: string, install: (app: FastifyInstance) => unknown]

const nameOf = (request: FastifyRequest, property: string): string => String(Reflect.get(request, property))
const greets: Hook = async (request, reply) => reply.code(404).send(`nothing for ${nameOf(request, 'user')}`)
const greetsLater: Hook = async (request, reply) => {
  await setImmediate()
  return greets(request, reply)
}
const isLost: Hook = async (_request, reply) => reply.code(404).send({ lost: true })
const hooked =
  (hook: Hook, only404 = false): ((app: FastifyInstance) => void) =>
  (app) => {
    app.setNotFoundHandler(isLost)
    app.addHook('preHandler', async (request, reply) => {
      if (!only404 || request.is404) await hook(request, reply)
    })
  }

const PERSONAL: readonly Row[] = [
  ['the handler for unknown URLs reads the user', (app) => app.setNotFoundHandler(greets)],
  ['the handler for unknown URLs reads the user later', (app) => app.setNotFoundHandler(greetsLater)],
  [
    'its own preHandler answers by the user',
    (app) =>
      app.setNotFoundHandler(
        {
          preHandler: async (request: FastifyRequest, reply: FastifyReply) => void (await greetsLater(request, reply)),
        },
        isLost,
      ),
  ],
  [
    'a preHandler of the app sets a field by what a hook has noted',
    hooked(async (request, reply) => void reply.header('x-for', nameOf(request, 'tenant'))),
  ],
  [
    'a preHandler of the app sets a field of Node’s response by what a hook has noted',
    hooked(async (request, reply) => void reply.raw.setHeader('x-for', nameOf(request, 'tenant'))),
  ],
  [
    'a preHandler of the app chooses a serializer by what a hook has noted',
    hooked(async (request, reply) => void reply.serializer(() => nameOf(request, 'tenant')), true),
  ],
]

/** What two clients get in turn from a cached route whose handler calls `callNotFound`. */
async function answersFor(install: Row[1], users: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = []
  await withApp(async ({ app }) => {
    app.decorateRequest('user', '')
    app.decorateRequest('tenant', '')
    app.addHook('onRequest', async (request) => {
      const name = request.headers['x-user']
      Object.assign(request, { user: name, tenant: name })
    })
    await install(app)
    const cache = { ttl: '10s', negativeTtl: '10s', cacheStatus: true } as const
    app.get('/gone', { config: { cache } }, (_request, reply) => reply.callNotFound())
    for (const user of users) {
      const { body, headers } = await app.inject({ url: '/gone', headers: { 'x-user': user } })
      answers.push([headers['x-for'], body, headers['cache-status']].join(' ').trim())
    }
  })
  return answers
}

describe('what an app answers where a cached handler calls callNotFound', () => {
  test.each(PERSONAL)('is its client’s alone where %s', async (_title, install) => {
    const [toAda, toBob] = await answersFor(install, ['ada', 'bob'])
    expect(toAda).toMatch(/\bada\b.*detail=personal$/)
    expect(toBob).toMatch(/\bbob\b.*detail=personal$/)
    expect(toBob).not.toContain('ada')
  })

  test('is shared where no hook runs and nobody reads who the client is', async () => {
    const [, toBob] = await answersFor((app) => app.setNotFoundHandler(isLost), ['ada', 'bob'])
    expect(toBob).toMatch(/^\{"lost":true\} .*; hit;/)
  })
})
