import { expect, test } from '@jest/globals'
import { withApp } from './cached-app.ts'

test('a serializer that a preHandler chooses for a reply makes the answer its own client’s', async () => {
  await withApp(async ({ app }) => {
    app.addHook('preHandler', (request, reply, done) => {
      const { role } = request.headers
      if (role !== undefined)
        reply.type('text/plain').serializer((payload: unknown) => `${String(role)}: ${JSON.stringify(payload)}`)
      done()
    })
    let runs = 0
    app.get('/a', { config: { cache: { ttl: '1m' } } }, async () => ({ run: (runs += 1) }))
    const bodyFor = async (role?: string): Promise<string> =>
      (await app.inject({ url: '/a', headers: role === undefined ? {} : { role } })).body
    expect([await bodyFor('admin'), await bodyFor('guest')]).toEqual(['admin: {"run":1}', 'guest: {"run":2}'])
    expect([await bodyFor(), await bodyFor(), await bodyFor('admin')]).toEqual([
      '{"run":3}',
      '{"run":3}',
      'admin: {"run":4}',
    ])
  })
})
