import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { luaSources } from '../../src/lua/sources.generated.ts'
import { ClientLink } from '../../src/link/client-link.ts'
import { NodeRedisClient } from '../../src/link/node-redis.ts'
import { runScript, script, type ScriptKeys } from '../../src/lua/run-script.ts'
import { connect, openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

// Calls that the library never sends and that a script must survive, so they bypass the library.

let redis: RedisUnderTest
let entry: string
let lease: string

beforeEach(async () => {
  redis = await openRedis()
  entry = `${redis.namespace}:{k}`
  lease = `${entry}:l`
})
afterEach(() => redis.stop())

const token = 't'.repeat(22)
/** Server time, µs. */
const MOMENT: unknown = expect.stringMatching(/^\d{16}$/)
const run = (name: keyof typeof luaSources, keys: ScriptKeys, ...args: readonly string[]): Promise<unknown> =>
  runScript(new ClientLink(new NodeRedisClient(redis.client)), script(luaSources[name]), keys, args)
const acquire = (mine: string, wake = '0'): Promise<unknown> => run('acquire', [entry, lease], mine, '60000', '', wake)

describe('the acquire script', () => {
  test('grants the same lease again when the acquire is repeated after a lost reply', async () => {
    expect(await acquire(token)).toEqual([1, MOMENT, 0, MOMENT, '0'])
    expect(await acquire('u'.repeat(22), '1')).toMatchObject([2, expect.any(Number), expect.stringContaining(token)])
    expect(await acquire(token)).toEqual([1, MOMENT, 0, MOMENT, '0'])
    // A caller that waited is still notified of the end.
    expect((await redis.client.get(lease))?.slice(0, 24)).toBe(`L${token}+`)
  })

  test('keeps the number of attempts when the acquire is repeated', async () => {
    await redis.client.set(lease, 'X000599990003Error', { expiration: { type: 'PX', value: 59_000 } })
    expect(await acquire(token)).toEqual([1, MOMENT, 3, MOMENT, '0'])
    expect(await acquire(token)).toEqual([1, MOMENT, 3, MOMENT, '0'])
  })

  test('does not extend a lease when a caller starts to wait for it', async () => {
    await acquire(token)
    await redis.client.pExpire(lease, 30_000)
    await acquire('u'.repeat(22), '1')
    const left = await redis.client.pTTL(lease)
    expect(left > 0 && left <= 30_000).toBe(true)
  })

  test('gives a version above the one that is there, also when the server’s clock has stepped back', async () => {
    const ahead = '8000000000000000'
    await redis.client.set(entry, Buffer.concat([Buffer.alloc(24, 0xc5), Buffer.from(ahead), Buffer.alloc(30)]))
    expect(await run('acquire', [entry, lease], token, '60000', ahead, '0')).toEqual([
      1,
      '8000000000000001',
      0,
      MOMENT,
      '0',
    ])
  })

  test('changes nothing when the duration is no whole number', async () => {
    for (const bad of ['1.5', '0', '-1', 'soon', '']) {
      await expect(run('acquire', [entry, lease], token, bad, '', '0')).rejects.toThrow(/integer|invalid expire/)
      expect(await redis.client.exists(lease)).toBe(0)
    }
  })
})

describe('the commit script', () => {
  test('changes nothing when the time to keep is no number: not the entry, not the lease', async () => {
    await redis.client.set(entry, 'before')
    await acquire(token)
    await redis.client.set(`${entry}:t:x`, 'after', { expiration: { type: 'PX', value: 10_000 } })
    for (const bad of ['1.5', 'soon', '']) {
      await expect(run('commit', [entry, lease, `${entry}:t:x`], token, bad, 'channel', 'message')).rejects.toThrow(
        'not an integer',
      )
      await expect(run('commit', [entry, lease], token, bad, 'channel', 'message', 'after')).rejects.toThrow(
        'not an integer',
      )
      expect([await redis.client.get(entry), await redis.client.pTTL(entry)]).toEqual(['before', -1])
      expect((await redis.client.get(lease))?.slice(1, 23)).toBe(token)
    }
  })

  test('publishes a commit only if a caller waits for it', async () => {
    const messages: string[] = []
    const subscriber = await connect()
    await subscriber.subscribe(`${redis.namespace}:wake`, (message) => void messages.push(message))
    const commit = (): Promise<unknown> =>
      run('commit', [entry, lease], token, '60000', `${redis.namespace}:wake`, 'committed k', 'record')
    await acquire(token)
    await acquire('u'.repeat(22), '0')
    expect(await commit()).toBe(1)
    await redis.client.publish(`${redis.namespace}:wake`, 'first')
    await redis.client.del(entry)
    await acquire(token)
    await acquire('u'.repeat(22), '1')
    expect(await commit()).toBe(1)
    await redis.client.publish(`${redis.namespace}:wake`, 'last')
    await until(() => messages.includes('last'))
    subscriber.destroy()
    expect(messages).toEqual(['first', 'committed k', 'last'])
  })
})

describe.each([0, 1])('a script whose latest moment was over %i µs ago', (ago) => {
  const latest = async (): Promise<string> => {
    const [seconds, micros] = (await redis.client.sendCommand(['TIME'])) as unknown as readonly string[]
    return String(Number(seconds) * 1_000_000 + Number(micros) - ago)
  }

  test('changes nothing, and tells the time', async () => {
    const late = [7, expect.stringMatching(/^\d{16}$/)]
    expect(await run('acquire', [entry, lease], token, '60000', '', '0', await latest())).toEqual(late)
    await acquire(token)
    expect(await run('put', [entry, lease], '60000', 'channel', 'message', 'new', await latest())).toEqual(late)
    await redis.client.set(`${entry}:t:x`, 'new', { expiration: { type: 'PX', value: 10_000 } })
    const long = [entry, lease, `${entry}:t:x`] as const
    expect(await run('put', long, '60000', 'channel', 'message', '', await latest())).toEqual(late)
    expect(await redis.client.keys(`${redis.namespace}:*`)).toEqual([lease])
  })
})

describe('the put script', () => {
  test('gives a version above the one that is there, also when the server’s clock has stepped back', async () => {
    const record = `${'h'.repeat(24)}8000000000000000 and the rest`
    await redis.client.set(entry, record)
    expect(await run('put', [entry, lease], '60000', 'channel', 'message', record)).toEqual([
      1,
      '8000000000000001',
      MOMENT,
    ])
    expect(await redis.client.get(entry)).toBe(`${'h'.repeat(24)}8000000000000001 and the rest`)
    await redis.client.set(`${entry}:t:x`, record, { expiration: { type: 'PX', value: 10_000 } })
    const long = await run('put', [entry, lease, `${entry}:t:x`], '60000', 'channel', 'message', '')
    expect([long, await redis.client.get(entry)]).toEqual([
      [1, '8000000000000002', MOMENT],
      `${'h'.repeat(24)}8000000000000002 and the rest`,
    ])
    expect(await redis.client.pTTL(entry)).toBeGreaterThan(50_000)
  })
})

describe('the invalidate script', () => {
  test('voids the lease even if a later command fails', async () => {
    await acquire(token)
    await expect(run('invalidate', [entry, lease], 'delete', 'channel', 'message', 'soon')).rejects.toThrow(
      'not an integer',
    )
    expect(await run('commit', [entry, lease], token, '60000', 'channel', 'message', 'loaded before')).toBe(-1)
  })
})

describe('the scripts of the refresh budget', () => {
  const ask = (...limits: readonly [perSecond: string, atOnce: string]) =>
    run('permitRefresh', budget(), `token ${Math.random()}`, ...limits, '60000')
  const budget = (): ScriptKeys => [`${redis.namespace}:{%refreshes}:rate`, `${redis.namespace}:{%refreshes}:running`]

  test('refuse no longer than one share when the server’s clock has stepped back', async () => {
    await redis.client.set(budget()[0], '8000000000000000')
    const wait = Number(await ask('20', '0'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(56)
  })

  test('replace a rate that is no number', async () => {
    await redis.client.set(budget()[0], 'soon')
    expect(await ask('1', '0')).toBe(0)
    expect(await ask('1', '0')).toBeGreaterThan(900)
  })

  test('leave keys that end by themselves', async () => {
    expect(await ask('1', '1')).toBe(0)
    for (const key of budget()) {
      const left = await redis.client.pTTL(key)
      expect(left).toBeGreaterThan(0)
      expect(left).toBeLessThanOrEqual(60_000)
    }
  })

  test('keep the permits of a long refresh while a shorter one asks', async () => {
    await ask('0', '2')
    await run('permitRefresh', budget(), 'short', '0', '2', '10')
    expect(await redis.client.pTTL(budget()[1] ?? '')).toBeGreaterThan(10_000)
  })
})

describe('the tag scripts', () => {
  test('return greater numbers even when the server’s clock has stepped back', async () => {
    const keys: ScriptKeys = [`${redis.namespace}:{%tags}`, `${redis.namespace}:{%tags}:n:t`]
    await redis.client.set(keys[0], '8000000000000000')
    expect(await run('invalidateTags', keys, 'delete', 'channel', '["t"]')).toBe('8000000000000001')
    expect(await run('noteTags', keys, '1000')).toEqual(['8000000000000001', '8000000000000001'])
    expect(await run('invalidateTags', keys, 'expire', 'channel', '["t"]')).toBe('8000000000000002')
    await redis.client.del(keys[0])
    expect(await run('invalidateTags', keys, 'expire', 'channel', '["t"]')).toBe('8000000000000003')
  })

  test('keep the number of the last invalidation of a tag that is expired, and drop that of an expiry with an invalidation', async () => {
    const keys: ScriptKeys = [`${redis.namespace}:{%tags}`, `${redis.namespace}:{%tags}:n:t`]
    const [sequence] = (await run('noteTags', keys, '60000')) as readonly string[]
    for (let expiry = 0; expiry < 2; expiry += 1) {
      const number = await run('invalidateTags', keys, 'expire', 'channel', '["t"]')
      expect(await redis.client.get(keys[1] ?? '')).toBe(`${sequence} ${String(number)}`)
      expect(await run('noteTags', keys, '60000')).toEqual([number, sequence])
    }
    const number = await run('invalidateTags', keys, 'delete', 'channel', '["t"]')
    expect(await redis.client.get(keys[1] ?? '')).toBe(number)
  })

  test('keep a tag’s number as long as the longest-lived entry that carries it', async () => {
    const tag = `${redis.namespace}:{%tags}:n:t`
    const keys: ScriptKeys = [`${redis.namespace}:{%tags}`, tag]
    await run('noteTags', keys, '50000')
    await run('noteTags', keys, '1000')
    expect(await redis.client.pTTL(tag)).toBeGreaterThan(1000)
    await run('invalidateTags', keys, 'delete', 'channel', '["t"]')
    expect(await redis.client.pTTL(tag)).toBeGreaterThan(1000)
  })
})
