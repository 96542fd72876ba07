import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { freePort } from './free-port.ts'
import { until } from './support/until.ts'

const page = readFileSync(join(__dirname, '../docs/operations.md'), 'utf8')

/** The cells of the row of docs/operations.md that begins with this cell. */
function row(first: string): readonly string[] {
  const line = page.split('\n').find((one) => one.startsWith(`| ${first} `))
  if (line === undefined) throw new Error(`docs/operations.md has no row "${first}"`)
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim().replaceAll('`', ''))
}

// A server of its own: nobody else sends to it.
let server: RedisServer
let admin: ReturnType<typeof createClient>
let ear: ReturnType<typeof createClient>
const heard: string[] = []

beforeAll(async () => {
  server = await startRedis({ own: true })
  admin = createClient({ url: server.url })
  ear = createClient({ url: server.url })
  for (const client of [admin, ear]) {
    client.on('error', () => undefined)
    await client.connect()
  }
  await ear.monitor((line) => void heard.push(line))
})

afterAll(async () => {
  admin.destroy()
  ear.destroy()
  await server.stop()
})

/** Opens a cache as a process has it, and waits until it hears its notices. */
async function open(options: RedisStoreOptions, more: object = {}): Promise<Cache> {
  const cache = createCache({ store: redisStore(options), ttl: '1h', storeTimeout: '5s', ...more })
  const connected = new Promise<void>((resolve) => {
    cache.on('notices', ({ state }) => state === 'connected' && resolve())
  })
  await Promise.all([cache.ready(), connected])
  return cache
}

let marks = 0
/** The lines of the server's monitor during `work`: a command that a client sends is one, and so is each that a script calls. */
async function heardDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
  const mark = async (): Promise<void> => {
    const text = `mark ${(marks += 1)}`
    await admin.sendCommand(['ECHO', text])
    await until(() => heard.some((line) => line.includes(text)))
  }
  await mark()
  heard.length = 0
  await work()
  await mark()
  return [...heard]
}

/** The address of the client that sent a command: of what a script calls, `lua`. */
const senderOf = (line: string): string => /\[\d+ (\S+)\]/.exec(line)?.[1] ?? ''

/** The names of the commands that a cache sends over its connection for commands. */
async function sentBy(cache: Cache, work: () => Promise<unknown>): Promise<string> {
  const [own = ''] = await heardDuring(() => cache.get('who am I'))
  const lines = await heardDuring(work)
  const sent = lines.filter((line) => senderOf(line) === senderOf(own))
  return sent.map((line) => (/\] "(\w+)"/.exec(line)?.[1] ?? '').toUpperCase()).join(' ')
}

const connections = async (): Promise<number> => (await admin.clientList()).length - 2

describe('what docs/operations.md says that a process sends', () => {
  let one: Cache
  let other: Cache
  let near: Cache

  beforeAll(async () => {
    one = await open({ url: server.url, namespace: 'costs' })
    other = await open({ url: server.url, namespace: 'costs' })
    near = await open({ url: server.url, namespace: 'costs' }, { near: { maxAge: '1h' } })
    // The server knows the scripts from now on.
    await one.lookup('warm', () => 1, { tags: ['warm'] })
    await one.set('warm', 1)
    await one.delete('warm')
    await one.invalidateTags(['warm'])
    await one.lookup('hit', () => 1)
    await other.get('hit')
  })

  afterAll(() => Promise.all([one, other, near].map((cache) => cache.close())))

  async function readNear(): Promise<void> {
    await until(async () => {
      await near.get('hit')
      return near.peek('hit') !== undefined
    })
  }

  async function follow(): Promise<void> {
    let answer = (): void => undefined
    let loads = false
    const load = new Promise<void>((resolve) => (answer = resolve))
    const leader = one.lookup('followed', () => {
      loads = true
      return load
    })
    await until(() => loads)
    let follows = false
    const stop = other.on('follow', () => (follows = true))
    const follower = other.lookup('followed', () => undefined)
    await until(() => follows)
    answer()
    await Promise.all([leader, follower])
    stop()
  }

  const steps: readonly (readonly [name: string, cache: () => Cache, step: () => Promise<unknown>])[] = [
    ['answers a call from Redis', () => other, () => other.get('hit')],
    [
      'answers 100 calls for one key at one moment',
      () => other,
      () => Promise.all(Array.from({ length: 100 }, () => other.get('hit'))),
    ],
    ['answers a call from a near copy', () => near, () => near.getOrSet('hit', () => 2)],
    ['loads a key', () => one, () => one.lookup('cold', () => 1)],
    ['loads a key with tags', () => one, () => one.lookup('tagged', () => 1, { tags: ['a', 'b'] })],
    ['waits for the load of another process', () => other, follow],
    ['calls `set`, `delete` or `expire`', () => one, () => one.set('hit', 2)],
    ['calls `invalidateTags` or `expireTags`', () => one, () => one.invalidateTags(['a', 'b'])],
  ]

  test.each(steps)('%s', async (name, cache, step) => {
    const [sends = '', count = ''] = row(name)
    if (name.includes('near copy')) await readNear()
    let sent = await sentBy(cache(), step)
    // The first read of a key in a second asks for its time to live, too.
    if (name.includes('answers')) await until(async () => !(sent = await sentBy(cache(), step)).includes('PTTL'))
    expect(sent).toBe(sends)
    expect(sent === '' ? 0 : sent.split(' ').length).toBe(Number(count))
  })
})

describe('the connections that docs/operations.md counts for a process', () => {
  beforeEach(() => until(async () => (await connections()) === 0))

  test('with `url`', async () => {
    const cache = await open({ url: server.url })
    expect(await connections()).toBe(Number(row('`redisStore({ url })`')[0]))
    await cache.close()
  })

  test('with a client of node-redis', async () => {
    const client = createClient({ url: server.url })
    client.on('error', () => undefined)
    await client.connect()
    const first = await open({ client })
    expect(await connections()).toBe(Number(row('your client of node-redis')[0]))
    const second = await open({ client, namespace: 'second' })
    expect(await connections()).toBe(Number(row('your client of node-redis')[0]) + 1)
    await Promise.all([first.close(), second.close()])
    client.destroy()
  })

  test('with a client of ioredis', async () => {
    const client = new Redis(server.url)
    client.on('error', () => undefined)
    const cache = await open({ client })
    expect(await connections()).toBe(Number(row('your client of ioredis or iovalkey')[0]))
    await cache.close()
    client.disconnect()
  })
})

describe('thirty processes that start at once', () => {
  const FLEET = 30

  /** The loads of one key, which each of them asks for as soon as it can. */
  async function loadsOf(url: string, namespace: string): Promise<number> {
    let loads = 0
    const caches = Array.from({ length: FLEET }, () =>
      createCache({ store: redisStore({ url, namespace }), ttl: '1h', storeTimeout: '20s', waitTimeout: '60s' }),
    )
    // That Redis cannot be reached.
    for (const cache of caches) cache.on('warning', () => undefined)
    const load = (): string => {
      loads += 1
      return 'value'
    }
    expect(new Set(await Promise.all(caches.map((cache) => cache.getOrSet('k', load))))).toEqual(new Set(['value']))
    await Promise.all(caches.map((cache) => cache.close()))
    return loads
  }

  test('load a key once together over an empty Redis, and not at all over a warm one', async () => {
    expect(await loadsOf(server.url, 'fleet')).toBe(1)
    expect(await loadsOf(server.url, 'fleet')).toBe(0)
  })

  test('load it once each without Redis', async () => {
    expect(await loadsOf(`redis://127.0.0.1:${await freePort()}`, 'fleet')).toBe(FLEET)
  })
})
