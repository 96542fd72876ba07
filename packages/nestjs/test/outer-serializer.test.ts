import { Controller, Get, type INestApplication } from '@nestjs/common'
import { expect, test } from '@jest/globals'
import type { FastifyInstance } from 'fastify'
import { Cached } from '../src/index.ts'
import { startSite } from './support/site.ts'

@Controller()
class Pages {
  runs = 0

  @Get('a')
  @Cached({ ttl: '1m' })
  page(): object {
    return { run: (this.runs += 1) }
  }
}

/** A hook of Fastify that has a serializer for each role. */
function serializesByRole(app: INestApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as FastifyInstance
  fastify.addHook('preHandler', async ({ headers: { role } }, reply) => {
    if (role !== undefined) reply.serializer((payload: unknown) => `${String(role)}: ${JSON.stringify(payload)}`)
  })
}

test('NestJS on Fastify: a serializer that a hook chooses for a reply makes the answer its own client’s', async () => {
  const site = await startSite('Fastify', { controllers: [Pages], setUp: serializesByRole })
  const bodyFor = async (role?: string): Promise<string> =>
    (await site.get('/a', role === undefined ? {} : { role })).text
  try {
    expect([await bodyFor('admin'), await bodyFor('guest')]).toEqual(['admin: {"run":1}', 'guest: {"run":2}'])
    expect([await bodyFor(), await bodyFor('admin'), await bodyFor()]).toEqual([
      '{"run":3}',
      'admin: {"run":4}',
      '{"run":3}',
    ])
    expect((await site.get('/a', { role: 'admin' })).cache).toBe('fwd=bypass; detail=serializer')
  } finally {
    await site.close()
  }
})
