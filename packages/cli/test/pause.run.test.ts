import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { bundled } from '../../../test/support/bundled.ts'
import { until } from '../../../test/support/until.ts'
import { cattlegrid, type Ran } from './support/cli.ts'
import { type Client, connect } from '../../../test/support/redis-under-test.ts'

const namespace = 'test:pause'
const PAUSE_KEY = `${namespace}:{%pause}:for`

let server: RedisServer
let admin: Client
const ends: (() => unknown)[] = []

beforeEach(async () => {
  server = await startRedis({ own: true })
  admin = await connect(server.url)
})
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  admin.destroy()
  await server.stop()
})

const run = (...args: readonly string[]): Promise<Ran> =>
  cattlegrid([...args, '--namespace', namespace, '--timeout', '20s'], server.url)

/** A process of its own, what it has said, and what a call of it returns. */
async function startProcess(): Promise<{ said(): string; call(): Promise<unknown> }> {
  const child: ChildProcess = fork(bundled(resolve(__dirname, 'pause-member.ts')), [server.url, namespace], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  ends.push(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  await until(() => said.includes('ready'))
  return {
    said: () => said,
    async call() {
      child.send('call')
      const [answer] = (await once(child, 'message')) as [unknown]
      return answer
    },
  }
}

function join(): Cache {
  const cache = createCache({ store: redisStore({ url: server.url, namespace }), ttl: '1m' })
  cache.on('warning', () => undefined)
  ends.push(() => cache.close({ drain: 0 }))
  return cache
}

/** Both processes listen: a notice that nobody hears is found at the next connection only. */
const untilHeardBy = (subscribers: number): Promise<void> =>
  until(async () => ((await admin.pubSubNumSub(`${namespace}:wake`))[`${namespace}:wake`] ?? 0) >= subscribers)

describe('cattlegrid pause', () => {
  test('reaches two processes that run and one that starts later, each of which tells it once; resume ends it', async () => {
    const [one, two] = [await startProcess(), await startProcess()]
    await untilHeardBy(2)
    await admin.set(`${namespace}:{other}`, 'the namespace is not empty')
    const shared = await one.call()
    expect(await two.call()).toEqual(shared)

    expect(await run('pause', '--for', '15m')).toEqual({
      code: 0,
      out: 'paused   for 15 min 0 s; 2 stores told\n',
      err: '',
    })
    await until(() => one.said().includes('warned') && two.said().includes('warned'))
    const late = await startProcess()
    expect(late.said()).toMatch(/^warned .*\nready, paused\n$/)
    const values = await Promise.all([one, two, late].map((process) => process.call()))
    expect(new Set(values.map((answer) => (answer as { value: string }).value)).size).toBe(3)

    expect(await run('resume')).toEqual({ code: 0, out: 'resumed; 3 stores told\n', err: '' })
    await until(() => [one, two, late].every((process) => process.said().includes('has ended')))
    expect(await Promise.all([one, two, late].map((process) => process.call()))).toEqual([shared, shared, shared])
    for (const process of [one, two, late]) expect(process.said().match(/warned An operator/g)).toHaveLength(1)
    expect(await admin.exists(PAUSE_KEY)).toBe(0)
  })

  test('lasts an hour by default, and ends by itself in Redis, too', async () => {
    const { code, out } = await run('pause', '--json')
    expect([code, JSON.parse(out)]).toEqual([0, { paused: 3_600_000, told: 0 }])
    expect(await admin.pTTL(PAUSE_KEY)).toBeGreaterThan(3_500_000)
  })

  test('is found by a process whose notices were away when it began, and kept by one whose Redis is away', async () => {
    const cache = join()
    await cache.ready()
    await untilHeardBy(1)
    // As after a break of the connection: the key is there, and the notice has not come.
    await admin.set(PAUSE_KEY, '900000', { expiration: { type: 'PX', value: 900_000 } })
    expect(cache.paused).toBe(false)
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
    await until(() => cache.paused)
    server.pause()
    await expect(cache.ready({ timeout: '300ms' })).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    expect(cache.paused).toBe(true)
    server.resume()
  })

  test('that ended while the notices of a process were away is over there, too', async () => {
    const cache = join()
    await cache.ready()
    await untilHeardBy(1)
    await run('pause')
    await until(() => cache.paused)
    await admin.del(PAUSE_KEY)
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
    await until(() => !cache.paused)
    expect(await cache.getOrSet('k', () => 'stored')).toBe('stored')
    await until(async () => (await cache.get('k')) === 'stored')
  })

  test('is not longer than it was meant to be where the server’s clock was set back', async () => {
    await admin.set(PAUSE_KEY, '1', { expiration: { type: 'PX', value: 900_000 } })
    const cache = join()
    await cache.ready()
    await until(() => !cache.paused)
    expect(await admin.pTTL(PAUSE_KEY)).toBeGreaterThan(0)
  })

  test.each(['', 'x', '-5', '99999999999'])('ignores %j in its place', async (value) => {
    await admin.set(PAUSE_KEY, value, { expiration: { type: 'PX', value: 900_000 } })
    const cache = join()
    await cache.ready()
    expect(cache.paused).toBe(false)
  })

  test('reaches a cache that joins a store whose others know of it', async () => {
    const store = redisStore({ url: server.url, namespace })
    const [first, second] = [createCache({ store, ttl: '1m' }), createCache({ store, ttl: '1m', name: 'late' })]
    for (const cache of [first, second]) {
      cache.on('warning', () => undefined)
      ends.push(() => cache.close({ drain: 0 }))
    }
    await untilHeardBy(1)
    await run('pause')
    await until(() => first.paused && second.paused)
    const third = createCache({ store, ttl: '1m', name: 'later' })
    third.on('warning', () => undefined)
    ends.push(() => third.close({ drain: 0 }))
    await until(() => third.paused)
    expect(await third.get('k')).toBeUndefined()
  })
})
