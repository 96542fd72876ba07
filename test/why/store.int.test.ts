import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { type Diagnosis, explain } from '@cattlegrid/explain'
import { logEvents } from '@cattlegrid/metrics/logs'
import { redisStore } from '@cattlegrid/redis'
import { startRedis } from '@cattlegrid/testkit'

const SHARED = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''

interface Logged {
  readonly cache: Cache
  readonly diagnosis: Diagnosis
  /** The messages of the log. */
  readonly lines: readonly string[]
}

const open: Cache[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((cache) => cache.close({ drain: 1 })))
})

async function logged(namespace: string, url = SHARED): Promise<Logged> {
  const failureCooldown = { min: '1m', max: '1m' } as const
  const cache = createCache({ store: redisStore({ url, namespace }), ttl: '1h', storeTimeout: '5s', failureCooldown })
  const lines: string[] = []
  const write = (_fields: object, message: string): void => void lines.push(message)
  logEvents(cache, { info: write, warn: write, error: write })
  const diagnosis = explain(cache)
  open.push(cache)
  await cache.ready()
  return { cache, diagnosis, lines }
}

test('Redis is gone: a line of the log says that it does not answer', async () => {
  const redis = await startRedis({ own: true })
  const { cache, lines } = await logged('why', redis.url)
  await redis.stop()
  expect(await cache.getOrSet('k', () => 'own')).toBe('own')
  const trouble = /The store (does not answer in time|did not answer a step in time)|Notices of the store may be lost/
  // The connection may tell of its end only after the first call.
  for (let turn = 0; turn < 500 && !trouble.test(lines.join('\n')); turn += 1) await sleep(20)
  expect(lines.join('\n')).toMatch(trouble)
})

const told = async ({ diagnosis }: Logged): Promise<string> =>
  (await diagnosis.explain('k', { timeout: '2s' })).sentences.join('\n')

test('a key cools down: a line of the log says that its load failed, and explain names the cooldown and its cause', async () => {
  const joined = await logged(`why-${randomUUID()}`)
  const { cache, lines } = joined
  const failing = cache.getOrSet('k', () => {
    throw new TypeError('down')
  })
  await expect(failing).rejects.toThrow('down')
  await expect(cache.getOrSet('k', () => 'value')).rejects.toMatchObject({ code: 'CATTLEGRID_LOAD_FAILED' })
  expect(lines).toContain('A load failed: its key cools down.')
  expect(await told(joined)).toMatch(/^The key cools down: nobody loads it for another .* failed \(TypeError\)/m)
})

// That a frozen holder is named as such needs a process: packages/explain/test/fleet.run.test.ts stops a real one.
test('another process holds the lease: explain names it', async () => {
  const namespace = `why-${randomUUID()}`
  const [leader, follower] = [await logged(namespace), await logged(namespace)]
  let end = (_value: string): void => {}
  const led = leader.cache.getOrSet('k', () => new Promise<string>((resolve) => (end = resolve)))
  while (leader.cache.stats().leases === 0) await new Promise(setImmediate)
  const followed = follower.cache.getOrSet('k', () => 'own')
  expect(await told(follower)).toMatch(new RegExp(`^The lease is held by pid ${process.pid} on .* it ends in`, 'm'))
  end('led')
  expect(await Promise.all([led, followed])).toEqual(['led', 'led'])
})

test('a tag fell: explain names it; the namespace is another one: explain finds no entry and no event', async () => {
  const namespace = `why-${randomUUID()}`
  const [one, other] = [await logged(namespace), await logged(`${namespace}-other`)]
  await one.cache.set('k', 'value', { tags: ['t'] })
  await one.cache.invalidateTags(['t'])
  expect(await told(one)).toContain('gone, because the tag t was invalidated after its load began')
  expect(await told(other)).toBe(
    'No process that answered remembers an event of the key.\nNow: the store has no entry of the key.',
  )
})
