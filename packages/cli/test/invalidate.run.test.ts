import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { cattlegrid, type Ran, start } from './support/cli.ts'
import { entryOf, isFresh, lead, LONG, put } from '../../../test/support/entries.ts'
import { connect, openRedis, type RedisUnderTest } from '../../../test/support/redis-under-test.ts'

describe('on a server that answers', () => {
  let redis: RedisUnderTest
  let store: Store

  beforeEach(async () => {
    redis = await openRedis()
    store = await redis.open()
  })
  afterEach(() => redis.stop())

  const run = (...args: readonly string[]): Promise<Ran> =>
    cattlegrid([...args, '--namespace', redis.namespace, '--timeout', '20s'])

  test('delete removes every key it is given and says so, one a line', async () => {
    await put(store, 'a', 1)
    await put(store, 'b', 2)
    expect(await run('delete', 'a', 'b', 'a', 'never was')).toEqual({
      code: 0,
      out: 'deleted  a\ndeleted  b\ndeleted  never was\n',
      err: '',
    })
    expect((await store.read('a', json)).kind).toBe('missing')
    expect((await store.read('b', json)).kind).toBe('missing')
  })

  test('delete voids a running lease', async () => {
    const lease = await lead(store, 'k')
    await run('delete', 'k')
    expect(await store.commit(lease, entryOf('old'), json)).toMatchObject({ kind: 'refused' })
  })

  test('delete --json is one document', async () => {
    const { code, out } = await run('delete', '--json', 'a', 'b')
    expect([code, JSON.parse(out)]).toEqual([0, { deleted: ['a', 'b'], unconfirmed: [] }])
  })

  test('expire makes an entry stale and keeps it', async () => {
    await put(store, 'k', 1, { staleWhileRevalidate: LONG })
    expect(await run('expire', 'k')).toEqual({ code: 0, out: 'expired  k\n', err: '' })
    expect(await isFresh(store, 'k')).toBe(false)
    const { code, out } = await run('expire', '--json', 'k')
    expect([code, JSON.parse(out)]).toEqual([0, { expired: ['k'], unconfirmed: [] }])
  })

  test('tags voids every entry that carries one of them', async () => {
    await put(store, 'k', 1, { tags: ['shop'] })
    expect(await run('tags', 'user:7', 'shop')).toEqual({
      code: 0,
      out: 'invalidated  user:7\ninvalidated  shop\n',
      err: '',
    })
    expect(JSON.parse((await run('inspect', '--json', 'k')).out)).toMatchObject({ state: 'gone' })
    const { code, out } = await run('tags', '--json', 'shop')
    expect([code, JSON.parse(out)]).toEqual([0, { tags: ['shop'], tagSeq: expect.any(Number) }])
  })

  test('expire-tags makes every entry stale that carries one of them', async () => {
    await put(store, 'k', 1, { tags: ['shop'], staleIfError: LONG })
    expect(await run('expire-tags', 'shop')).toEqual({ code: 0, out: 'expired  shop\n', err: '' })
    expect(JSON.parse((await run('inspect', '--json', 'k')).out)).toMatchObject({ state: 'stale' })
  })
})

describe('on a server that does not execute the command', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis({ own: true })
  })
  afterAll(() => server.stop())

  const each = [
    ['inspect', 'k'],
    ['delete', 'k'],
    ['expire', 'k'],
    ['tags', 'k'],
    ['expire-tags', 'k'],
    ['pause'],
    ['resume'],
    ['watch'],
  ] as const

  test.each(each)('%s ends with 1 when no server listens, and names the address and what to do', async (...args) => {
    const { code, out, err } = await cattlegrid([...args], 'redis://me:s3cret@127.0.0.1:1')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('Redis at redis://***@127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1.')
    expect(err).toContain('or name another with --url or REDIS_URL.')
    expect(err).not.toMatch(/s3cret|^\s+at /m)
  })

  test.each(each)('%s ends with 1 when the server is frozen', async (...args) => {
    server.pause()
    try {
      const { code, out, err } = await cattlegrid([...args, '--timeout', '300ms'], server.url)
      expect([code, out]).toEqual([1, ''])
      expect(err).toContain(`Redis at ${server.url} did not answer within 300 ms.`)
      expect(err).toContain('--timeout')
    } finally {
      server.resume()
    }
  })

  test.each(each)('%s ends with 1 when the password is wrong, which it does not show', async (...args) => {
    const url = server.url.replace('//', '//me:s3cret@')
    const { code, out, err } = await cattlegrid([...args, '--timeout', '20s'], url)
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('WRONGPASS')
    expect(err).toContain('Put the user and the password in the URL')
    expect(err).not.toContain('s3cret')
  })

  test.each([
    ['delete', 'NOPERM'],
    ['expire', 'NOPERM'],
    ['tags', 'NOPERM'],
  ])('%s by a user without the right says which keys are not confirmed', async (command, reason) => {
    const admin = await connect(server.url)
    await admin.sendCommand(['ACL', 'SETUSER', 'reader', 'on', '>pw', '~*', '&*', '+@all', '-@scripting'])
    await admin.close()
    const args = [command, 'a', 'b', '--timeout', '20s', '--url', server.url.replace('//', '//reader:pw@')]
    const { code, err } = await cattlegrid(args)
    expect(code).toBe(1)
    expect(err).toContain(`refused: ${reason}`)
    expect(err).toContain('Not confirmed: a, b. Retrying is safe.')
  })

  test('--json lists the confirmed and the unconfirmed keys', async () => {
    const admin = await connect(server.url)
    const namespace = `test:${randomUUID()}`
    await admin.sendCommand(['ACL', 'SETUSER', 'half', 'on', '>pw', `~${namespace}:{a}*`, '&*', '+@all'])
    await admin.close()
    const url = server.url.replace('//', '//half:pw@')
    const args = ['delete', 'a', 'b', '--json', '--namespace', namespace, '--timeout', '20s', '--url', url]
    const { code, out, err } = await cattlegrid(args)
    expect([code, JSON.parse(out)]).toEqual([1, { deleted: ['a'], unconfirmed: ['b'] }])
    expect(err).toContain('Not confirmed: b.')
  })

  test('a replica is called a replica', async () => {
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(server.port)] })
    try {
      const { code, err } = await cattlegrid(['delete', 'k', '--timeout', '20s'], replica.url)
      expect(code).toBe(1)
      expect(err).toContain('That server is a replica; name its master with --url.')
    } finally {
      await replica.stop()
    }
  })

  test.each([
    ['speaks HTTP', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'],
    ['says what no protocol says', '\u0000\u001B[31m?!\r\n\r\n'],
  ])('a server that %s is reported as not being Redis, without a stack', async (_, answer) => {
    const web = createServer().on('clientError', (error, socket) => socket.end(answer))
    web.listen(0, '127.0.0.1')
    await once(web, 'listening')
    const { port } = web.address() as AddressInfo
    const { code, out, err } = await start(['inspect', 'k', '--timeout', '5s'], `redis://127.0.0.1:${port}`).ended
    web.close()
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^cattlegrid: /)
    expect(err).not.toMatch(/^\s+at |[^\P{Cc}\n]/mu)
  })
})
