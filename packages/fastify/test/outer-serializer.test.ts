import { expect, test } from '@jest/globals'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyRouteOptions } from '../src/index.ts'
import { withApp } from './support/cached-app.ts'

/** Answers of a cached route, asked by roles in turn; a hook has a serializer for each role. */
async function withRoles(
  hook: 'onRequest' | 'preHandler',
  options: FastifyRouteOptions,
  play: (bodyFor: (role?: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  await withApp(async ({ app }) => {
    app.addHook(hook as 'preHandler', async ({ headers: { role } }: FastifyRequest, reply: FastifyReply) => {
      if (role !== undefined)
        reply.type('text/plain').serializer((payload: unknown) => `${String(role)}: ${JSON.stringify(payload)}`)
    })
    let runs = 0
    app.get('/a', { config: { cache: { ttl: '1m', ...options } } }, async () => ({ run: (runs += 1) }))
    await play(async (role) => (await app.inject({ url: '/a', headers: role === undefined ? {} : { role } })).body)
  })
}

test('a serializer that a preHandler chooses for a reply makes the answer its own client’s', async () => {
  await withRoles('preHandler', {}, async (bodyFor) => {
    expect([await bodyFor('admin'), await bodyFor('guest')]).toEqual(['admin: {"run":1}', 'guest: {"run":2}'])
    expect([await bodyFor(), await bodyFor(), await bodyFor('admin')]).toEqual([
      '{"run":3}',
      '{"run":3}',
      'admin: {"run":4}',
    ])
  })
})

test('a serializer that is chosen before the fresh entries of phase onRequest makes the answer its own client’s', async () => {
  await withRoles('onRequest', { phase: 'onRequest' }, async (bodyFor) => {
    expect([await bodyFor(), await bodyFor('admin'), await bodyFor('guest'), await bodyFor()]).toEqual([
      '{"run":1}',
      'admin: {"run":2}',
      'guest: {"run":3}',
      '{"run":1}',
    ])
  })
})

test('once a hook after phase onRequest was seen to choose a serializer, the route serves its fresh entries behind that hook', async () => {
  await withRoles('preHandler', { phase: 'onRequest' }, async (bodyFor) => {
    expect([await bodyFor('admin'), await bodyFor(), await bodyFor('admin'), await bodyFor()]).toEqual([
      'admin: {"run":1}',
      '{"run":2}',
      'admin: {"run":3}',
      '{"run":2}',
    ])
  })
})

test('as long as no hook after phase onRequest was seen to choose a serializer, everybody gets the stored answer, which has none', async () => {
  await withRoles('preHandler', { phase: 'onRequest' }, async (bodyFor) => {
    expect([await bodyFor(), await bodyFor('admin')]).toEqual(['{"run":1}', '{"run":1}'])
  })
})
