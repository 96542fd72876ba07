import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { luaSources } from '../../src/lua/sources.generated.ts'
import { entryOf, found, isFresh, lead, LONG, put, request } from '../../../../test/support/entries.ts'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'
import { type Hook, tap } from '../support/tap.ts'
import { until } from '../../../../test/support/until.ts'

let redis: RedisUnderTest
let other: Store

beforeEach(async () => {
  redis = await openRedis()
  other = await redis.open()
  // So that a step is one command.
  await Promise.all(Object.values(luaSources).map((source) => redis.client.scriptLoad(source)))
})
afterEach(() => redis.stop())

/** A store whose commands go through `hook`. */
const slow = (hook: Hook): Store => redisStore({ client: tap(redis.client, hook), namespace: redis.namespace })

/** A store that reads while another process does something between the two commands of the read. */
function readingWhile(meddle: () => Promise<unknown>): Store {
  let sent: Promise<unknown> | undefined
  let meddled = false
  return slow((what, forward) => {
    if (what !== 'get' && what !== 'pttl') return forward()
    if (sent === undefined) return (sent = forward())
    if (meddled) return forward()
    meddled = true
    return sent.then(meddle).then(forward)
  })
}

describe('a read during which another process writes', () => {
  test('never serves the old body as fresh', async () => {
    await put(other, 'k', 'old', { ttl: 1, staleWhileRevalidate: LONG })
    await new Promise((resolve) => setTimeout(resolve, 5))
    const reading = readingWhile(() => put(other, 'k', 'new', { ttl: LONG, staleWhileRevalidate: LONG }))
    const entry = await found(reading, 'k')
    expect([entry.value, entry.freshUntil > performance.now()]).not.toEqual(['old', true])
  })

  test('reads once more when the time to live is longer than that of the record', async () => {
    await put(other, 'k', 'old', { ttl: 10 * LONG })
    const reading = readingWhile(() => put(other, 'k', 'new', { ttl: LONG }))
    const entry = await found(reading, 'k')
    const left = entry.freshUntil - performance.now()
    expect([entry.value, left > 0 && left <= LONG]).toEqual(['new', true])
  })

  test('reads once more when the key did not exist for PTTL and did for GET', async () => {
    const reading = readingWhile(() => put(other, 'k', 'new'))
    const entry = await found(reading, 'k')
    expect([entry.value, entry.freshUntil > performance.now()]).toEqual(['new', true])
  })

  test('finds nothing when the entry is removed between the two commands', async () => {
    await put(other, 'k', 'old')
    const reading = readingWhile(() => other.invalidate('k', 'delete', 0))
    expect(await reading.read('k', json)).toEqual({ kind: 'missing', version: '' })
  })
})

describe('an entry expired by hand', () => {
  test('stays stale when the server’s clock steps back and its time to live grows', async () => {
    await put(other, 'k', 'old', { ttl: LONG, staleIfError: LONG })
    expect(await isFresh(other, 'k')).toBe(true)
    await other.invalidate('k', 'expire', 0)
    await redis.client.pExpire(`${redis.namespace}:{k}`, 2 * LONG - 1000)
    expect(await isFresh(other, 'k')).toBe(false)
  })

  test('or with a time to live that never ends is never fresh', async () => {
    await put(other, 'k', 'old', { staleIfError: LONG })
    await redis.client.persist(`${redis.namespace}:{k}`)
    expect(await isFresh(other, 'k')).toBe(false)
  })
})

describe('an acquire whose answer is lost', () => {
  test('releases the lease that it may have been granted', async () => {
    const unlucky = slow(async (what, forward) => {
      const reply = await forward()
      if (what === 'acquire') throw new Error('the connection broke')
      return reply
    })
    expect(await unlucky.acquire('k', request)).toMatchObject({ kind: 'away', why: 'error' })
    // The release was sent behind it; this goes a longer way.
    expect((await unlucky.inspect('k')).kind).toBe('found')
    await lead(other, 'k')
  })

  test('releases a lease that is granted late', async () => {
    let arrive = (): void => undefined
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    let reached: Promise<unknown> = Promise.resolve()
    const queue: (() => Promise<unknown>)[] = []
    const unlucky = slow((what, forward) => {
      if (what === 'acquire') {
        queue.push(forward)
        return Promise.reject(new Error('no answer'))
      }
      reached = arrived.then(async () => {
        for (const late of queue.splice(0)) await late()
        return await forward()
      })
      return reached
    })
    expect((await unlucky.acquire('k', request)).kind).toBe('away')
    arrive()
    await reached
    await lead(other, 'k')
  })

  test('releases a lease that is granted after Redis has answered that it knows no such lease', async () => {
    const lost: (() => Promise<unknown>)[] = []
    let released = 0
    const unlucky = slow(async (what, forward) => {
      if (what === 'release') released += 1
      if (what !== 'acquire') return await forward()
      lost.push(forward)
      throw new Error('the connection was given up')
    })
    expect((await unlucky.acquire('k', request)).kind).toBe('away')
    await until(() => Promise.resolve(released > 0))
    // A command behind the first release: that has been answered.
    await unlucky.inspect('k')
    for (const deliver of lost) await deliver()
    expect(await redis.client.exists(`${redis.namespace}:{k}:l`)).toBe(1)
    await until(async () => (await redis.client.exists(`${redis.namespace}:{k}:l`)) === 0)
  })

  test('does not end a lease that was granted to another meanwhile', async () => {
    const unlucky = slow((what, forward) => (what === 'acquire' ? Promise.reject(new Error('refused')) : forward()))
    const lease = await lead(other, 'k')
    expect((await unlucky.acquire('k', request)).kind).toBe('away')
    await unlucky.inspect('k')
    expect((await other.commit(lease, entryOf(1), json)).kind).toBe('stored')
  })
})

describe('a lease whose commit was not executed', () => {
  async function abandoned(): Promise<Store> {
    let broken = true
    const unlucky = slow((what, forward) => {
      const breaks = broken && (what === 'commit' || what === 'release')
      return breaks ? Promise.reject(new Error('the connection broke')) : forward()
    })
    const lease = await lead(unlucky, 'k')
    expect((await unlucky.commit(lease, entryOf('unstored'), json)).kind).toBe('away')
    broken = false
    return unlucky
  }

  test('is released before the next acquire of the same process', async () => {
    expect((await (await abandoned()).acquire('k', request)).kind).toBe('lead')
  })

  test('is released when no call of that process asks for the key', async () => {
    await abandoned()
    await until(async () => (await redis.client.exists(`${redis.namespace}:{k}:l`)) === 0)
    expect((await other.acquire('k', request)).kind).toBe('lead')
  })

  test('is released by close', async () => {
    await (await abandoned()).close()
    await redis.client.ping()
    expect((await other.acquire('k', request)).kind).toBe('lead')
  })
})

describe('a long record before its commit', () => {
  const long = 'x'.repeat(10_000)
  const temporaryKeys = () => redis.client.keys(`${redis.namespace.replaceAll('-', '?')}:{k}:t:*`)

  test('is sent again with the commit when its temporary key is gone', async () => {
    const store = slow(async (what, forward, args) => {
      if ((what === 'commit' || what === 'put') && args[2] === '3') await redis.client.unlink(await temporaryKeys())
      return forward()
    })
    expect((await store.commit(await lead(store, 'k'), entryOf(`${long}1`), json)).kind).toBe('stored')
    expect((await found(other, 'k')).value).toBe(`${long}1`)
    await put(store, 'k', `${long}2`)
    expect((await found(other, 'k')).value).toBe(`${long}2`)
  })

  test('leaves nothing behind when the commit is refused', async () => {
    const lease = await lead(other, 'k')
    await other.invalidate('k', 'delete', 0)
    expect((await other.commit(lease, entryOf(long), json)).kind).toBe('refused')
    expect(await temporaryKeys()).toEqual([])
    expect((await other.read('k', json)).kind).toBe('missing')
  })

  test('expires within seconds when its process dies before the commit', async () => {
    const dying = slow((what, forward) => (what === 'commit' ? Promise.reject(new Error('dead')) : forward()))
    expect((await dying.commit(await lead(dying, 'k'), entryOf(long), json)).kind).toBe('away')
    const [temporary = ''] = await temporaryKeys()
    const left = await redis.client.pTTL(temporary)
    expect(left > 0 && left <= 10_000).toBe(true)
  })
})

describe('a clear during which a leader commits', () => {
  test('removes that value, because its load began before', async () => {
    const lease = await lead(other, 'k')
    let answer: unknown
    let scans = 0
    const clearing = slow(async (what, forward, args) => {
      if (what === 'scan' && args[1] === '0' && (scans += 1) === 2)
        answer = await other.commit(lease, entryOf('before'), json)
      return forward()
    })
    await clearing.clear()
    expect(scans).toBe(2)
    expect(answer).toEqual({ kind: 'refused', why: 'voided' })
    expect((await other.read('k', json)).kind).toBe('missing')
  })
})
