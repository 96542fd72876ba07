import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'
import { until } from './support/until.ts'

const url = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''
const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

interface Processes {
  readonly one: Cache
  readonly other: Cache
  /** The names in Redis, without the namespace, that have the text or whose value has it. */
  namesWith(text: string): Promise<string[]>
  /** The names without a time to live. */
  endless(): Promise<string[]>
}

/** Two caches stand for two processes: each has its own connections and its own copies. */
async function twoProcesses(): Promise<Processes> {
  const namespace = `erasure-${randomUUID()}`
  const open = async (): Promise<Cache> => {
    const store = redisStore({ url, namespace })
    const cache = createCache({ store, ttl: '1h', staleIfError: '1h', storeTimeout: '5s', near: { maxAge: '1h' } })
    ends.push(() => cache.close())
    const connected = new Promise<void>((resolve) => {
      cache.on('notices', ({ state }) => state === 'connected' && resolve())
    })
    await Promise.all([cache.ready(), connected])
    return cache
  }
  const client = createClient({ url })
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.destroy())
  const names = async (): Promise<string[]> => (await client.keys(`${namespace}:*`)).toSorted()
  const those = async (isOne: (name: string) => Promise<boolean>): Promise<string[]> => {
    const found: string[] = []
    for (const name of await names()) if (await isOne(name)) found.push(name.slice(namespace.length))
    return found
  }
  return {
    one: await open(),
    other: await open(),
    namesWith: (text) => those(async (name) => name.includes(text) || ((await client.get(name)) ?? '').includes(text)),
    endless: () => those(async (name) => (await client.pTTL(name)) === -1),
  }
}

const person = { name: 'Ada' }
const options = { tags: ['person:7'] }

/** Both have read the value, and the second one has a near copy of it. */
async function known({ one, other }: { readonly one: Cache; readonly other: Cache }): Promise<void> {
  await one.lookup('user:7', () => person, options)
  await until(async () => {
    await other.get('user:7')
    return other.peek('user:7') !== undefined
  })
}

test('delete removes a person from Redis at once, and from the copies of another process when the notice arrives', async () => {
  const processes = await twoProcesses()
  await known(processes)
  expect(await processes.namesWith('Ada')).toEqual([':{user:7}'])
  await processes.one.delete('user:7')
  expect(await processes.namesWith('Ada')).toEqual([])
  expect(processes.one.peek('user:7')).toBeUndefined()
  await until(() => processes.other.peek('user:7') === undefined)
  expect(await processes.other.get('user:7', { stale: true })).toBeUndefined()
})

test('a load that read a person before delete stores nothing, and its caller gets the value', async () => {
  const { one, other, namesWith } = await twoProcesses()
  let answer = (): void => undefined
  let began = false
  const read = new Promise<void>((resolve) => (answer = resolve))
  const loading = one.lookup('user:7', async () => {
    began = true
    await read
    return person
  })
  await until(() => began)
  await other.delete('user:7')
  answer()
  expect((await loading).value).toEqual(person)
  expect(await namesWith('Ada')).toEqual([])
})

test('invalidateTags and expire leave the bytes of a person in Redis, and delete removes them afterwards', async () => {
  const processes = await twoProcesses()
  await known(processes)
  await processes.one.expire('user:7')
  expect(await processes.namesWith('Ada')).toEqual([':{user:7}'])
  await processes.one.invalidateTags(['person:7'])
  expect(await processes.one.get('user:7', { stale: true })).toBeUndefined()
  expect(await processes.namesWith('Ada')).toEqual([':{user:7}'])
  await processes.one.delete('user:7')
  expect(await processes.namesWith('Ada')).toEqual([])
  // The name of the tag stays, with a time to live.
  expect(await processes.namesWith('person:7')).toEqual([':{%tags}:n:person:7'])
})

test('what stays in Redis when a cache is taken out is its entries and tags, all with an end but one number', async () => {
  const { one, namesWith, endless } = await twoProcesses()
  await one.lookup('user:7', () => person, options)
  await one.set('user:8', person)
  await one.invalidateTags(['person:7'])
  expect(await namesWith('')).toEqual([':{%tags}', ':{%tags}:n:person:7', ':{user:7}', ':{user:8}'])
  expect(await endless()).toEqual([':{%tags}'])
  expect(await one.clear()).toBe(2)
  expect(await namesWith('')).toEqual([':{%tags}', ':{%tags}:n:person:7'])
})
