import { expect, test } from '@jest/globals'
import { cache, counter, withApp } from './support/cached-app.ts'

test('where a layer throws at a hit, the handler answers, and nothing of the hit is in its response', async () => {
  const { next } = counter()
  let broken = false
  await withApp(async ({ app }) => {
    app.addHook('preHandler', (_request, reply, done) => {
      const send = reply.send.bind(reply)
      reply.send = (payload) => {
        if (broken && reply.hasHeader('age')) throw new Error('no stored responses')
        return send(payload)
      }
      done()
    })
    app.get('/a', { config: { cache } }, async (_request, reply) => {
      const run = next()
      if (run === 'run 1') reply.code(203).header('x-run', '1')
      return run
    })
    await app.inject('/a')
    expect((await app.inject('/a')).headers['age']).toBe('0')
    broken = true
    const { statusCode, body, headers } = await app.inject({ url: '/a', signal: AbortSignal.timeout(2000) })
    expect([statusCode, body, headers['x-run'], headers['age']]).toEqual([200, 'run 2', undefined, undefined])
  })
})

test('where a layer throws at a hit, the handler answers with the status and the fields that a layer before it has set', async () => {
  let broken = false
  await withApp(async ({ app }) => {
    app.addHook('preHandler', (_request, reply, done) => {
      const send = reply.send.bind(reply)
      reply.code(202).header('vary', 'Origin').send = (payload) => {
        if (broken && reply.hasHeader('age')) throw new Error('no stored responses')
        return send(payload)
      }
      done()
    })
    app.get('/a', { config: { cache } }, async (_request, reply) =>
      reply.code(broken ? reply.statusCode : 200).send('a'),
    )
    await app.inject('/a')
    broken = true
    const { statusCode, headers } = await app.inject({ url: '/a', signal: AbortSignal.timeout(2000) })
    expect([statusCode, headers['vary']]).toEqual([202, 'Origin'])
  })
})

test('where a layer throws at an error of the cache, the handler answers', async () => {
  const { next } = counter()
  let broken = false
  await withApp(async ({ app }) => {
    app.addHook('preHandler', (_request, reply, done) => {
      const send = reply.send.bind(reply)
      reply.send = (payload) => {
        if (broken && payload instanceof Error) throw new Error('no errors')
        return send(payload)
      }
      done()
    })
    app.get('/a', { config: { cache } }, async (_request, reply) => {
      const run = next()
      if (run === 'run 1') reply.code(500)
      return run
    })
    await app.inject('/a')
    expect((await app.inject('/a')).statusCode).toBe(503)
    broken = true
    const { statusCode, body, headers } = await app.inject({ url: '/a', signal: AbortSignal.timeout(2000) })
    expect([statusCode, body, headers['retry-after']]).toEqual([200, 'run 2', undefined])
  })
})
