import { describe, expect, test } from '@jest/globals'
import type { FastifyReply, RouteHandlerMethod } from 'fastify'
import { withApp } from './support/cached-app.ts'

const cache = { ttl: '1m', failureCooldown: { min: 1, max: 1 } } as const
const noDatabase = (): Error => new Error('no database')

const FAILS: readonly (readonly [string, RouteHandlerMethod])[] = [
  [
    'throws',
    () => {
      throw noDatabase()
    },
  ],
  ['rejects', async () => await Promise.reject(noDatabase())],
  ['sends an error', (_request, reply) => void reply.send(noDatabase())],
  ['returns an error', async () => noDatabase()],
]

describe('an error handler that answers 200', () => {
  test.each(FAILS)('for a handler that %s makes no page of it', async (_how, fail) => {
    await withApp(async ({ app, bodies, runtime }) => {
      let runs = 0
      app.setErrorHandler((_error, _request, reply: FastifyReply) => reply.code(200).send('sorry'))
      app.get('/a', { config: { cache } }, function (request, reply): unknown {
        runs += 1
        return runs === 1 ? fail.call(this, request, reply) : reply.send('page')
      })
      expect([await bodies('/a', 1), await runtime.advance(1000)]).toEqual([['sorry'], undefined])
      expect([await bodies('/a', 2), runs]).toEqual([['page', 'page'], 2])
    })
  })
})
