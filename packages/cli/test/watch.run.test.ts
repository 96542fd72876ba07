import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { startRedis } from '@cattlegrid/testkit'
import { cattlegrid, type Running, start } from './support/cli.ts'
import { entryOf, lead, put, request } from '../../../test/support/entries.ts'
import { connect, openRedis, type RedisUnderTest } from '../../../test/support/redis-under-test.ts'
import { until } from '../../../test/support/until.ts'

const watching: Running[] = []

async function watch(args: readonly string[], url?: string): Promise<Running> {
  const running = start(['watch', ...args], url)
  watching.push(running)
  await until(() => running.err.includes('Press Ctrl-C to stop.'))
  return running
}

afterEach(async () => {
  for (const { child } of watching) child.kill('SIGKILL')
  await Promise.all(watching.splice(0).map(({ ended }) => ended))
})

describe('watch', () => {
  let redis: RedisUnderTest
  let store: Store
  let options: readonly string[]

  beforeEach(async () => {
    redis = await openRedis()
    store = await redis.open()
    await put(store, 'there', 1)
    options = ['--namespace', redis.namespace, '--timeout', '20s']
  })
  afterEach(() => redis.stop())

  /** One of each. */
  async function everything(): Promise<void> {
    const lease = await lead(store, 'made')
    await store.acquire('made', { ...request, wake: true })
    await store.commit(lease, entryOf(1), json)
    const given = await lead(store, 'given back')
    await store.acquire('given back', { ...request, wake: true })
    await store.release(given, { kind: 'handover' })
    await store.invalidate('aged', 'expire', 0)
    await store.invalidateTags(['user:7', 'shop'], 'delete')
    await store.invalidateTags(['shop'], 'expire')
    await store.clear()
  }

  test('prints each notice on a line as it comes', async () => {
    const running = await watch(options)
    await everything()
    await until(() => running.out.includes('cleared'))
    const lines = running.out.trimEnd().split('\n')
    for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3}  \S/)
    expect(lines.map((line) => line.slice(14))).toEqual([
      'committed  made',
      'released   given back',
      'expired    aged',
      'tags       user:7, shop',
      'tags       shop (expired)',
      'cleared',
    ])
  })

  test('prints each notice as one JSON document with --json, also those about the connection', async () => {
    const running = await watch([...options, '--json'])
    await everything()
    await until(() => running.out.includes('cleared'))
    const notices = running.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(notices).toEqual(
      [
        { kind: 'connected' },
        { kind: 'committed', key: 'made' },
        { kind: 'released', key: 'given back' },
        { kind: 'expired', key: 'aged' },
        { kind: 'tags', tags: ['user:7', 'shop'], tagSeq: expect.any(Number), how: 'delete' },
        { kind: 'tags', tags: ['shop'], tagSeq: expect.any(Number), how: 'expire' },
        { kind: 'cleared' },
      ].map((notice) => ({ at: expect.stringMatching(/^\d{4}-.*Z$/), ...notice })),
    )
  })

  test('prints a deletion by another process', async () => {
    const running = await watch(options)
    const [, deleted] = await Promise.all([
      until(() => running.out.includes('deleted    product:7\n')),
      cattlegrid(['delete', 'product:7', ...options]),
    ])
    expect(deleted.code).toBe(0)
  })

  test('shows a hostile key as text', async () => {
    const running = await watch(options)
    await put(store, '\u001B[2J\n12:00:00.000  cleared', 1)
    await store.invalidate('\u001B[2J\n12:00:00.000  cleared', 'delete', 0)
    await until(() => running.out.includes('deleted'))
    expect(running.out).toContain('deleted    \\x1b[2J\\x0a12:00:00.000  cleared\n')
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('ends with 0 on %s, without further output', async (signal) => {
    const running = await watch(options)
    running.child.kill(signal)
    const { code, out, err } = await running.ended
    expect([code, out]).toEqual([0, ''])
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('ends without an error when the reader closes the pipe', async () => {
    const running = await watch(options)
    running.child.stdout?.destroy()
    // The first line may still find room in the pipe.
    const noise = setInterval(() => void store.invalidate('k', 'delete', 0), 20)
    const { code, err } = await running.ended
    clearInterval(noise)
    expect(code).toBe(0)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('watch on a server of its own', () => {
  test('reports that the connection is lost and that it is back, and continues', async () => {
    const first = await startRedis({ own: true })
    const running = await watch(['--timeout', '10s'], first.url)
    await first.kill()
    await until(() => running.err.includes('The connection is lost'))
    const second = await startRedis({ port: first.port })
    try {
      await until(() => running.err.includes('The connection is back.'))
      const client = await connect(second.url)
      await redisStore({ client }).invalidate('k', 'delete', 0)
      await client.close()
      await until(() => running.out.includes('deleted    k\n'))
    } finally {
      await second.stop()
    }
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(0)
  })

  test('reports that the server is frozen and that it answers again, and ends on Ctrl-C in between', async () => {
    const server = await startRedis({ own: true })
    try {
      const [one, other] = await Promise.all([
        watch(['--timeout', '2s'], server.url),
        watch(['--timeout', '2s'], server.url),
      ])
      server.pause()
      await until(() => one.err.includes('has not answered for 2.0 s') && other.err.includes('has not answered'))
      other.child.kill('SIGINT')
      expect((await other.ended).code).toBe(0)
      server.resume()
      await until(() => one.err.includes('The server answers again.'))
    } finally {
      server.resume()
      await server.stop()
    }
  })

  test('ends with 1 when the Redis user may not subscribe, and names the missing right', async () => {
    const server = await startRedis({ own: true })
    try {
      const admin = await connect(server.url)
      await admin.sendCommand(['ACL', 'SETUSER', 'unsubscribed', 'on', '>pw', '~*', 'resetchannels', '+@all'])
      await admin.close()
      const url = server.url.replace('//', '//unsubscribed:pw@')
      const { code, out, err } = await cattlegrid(['watch', '--timeout', '20s'], url)
      expect([code, out]).toEqual([1, ''])
      // At once, as the reason for the exit: watch does not retry a refused subscription.
      expect(err).toMatch(/^cattlegrid: .*allow the Redis user to subscribe to it \(&cattlegrid:wake\)/)
    } finally {
      await server.stop()
    }
  })
})
