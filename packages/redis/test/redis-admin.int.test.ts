import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type RedisAdmin, redisAdmin } from '@cattlegrid/redis/admin'
import { put } from '../../../test/support/entries.ts'
import { connect } from '../../../test/support/redis-under-test.ts'

const namespace = `admin:${randomUUID()}`
let admin: RedisAdmin
let other: RedisAdmin
let close: () => Promise<unknown>

beforeAll(async () => {
  const client = await connect()
  admin = redisAdmin({ client, namespace })
  other = redisAdmin({ client, namespace: `${namespace}:other` })
  close = () => client.close()
  await put(admin.store, 'a', 1, { tags: ['red'] })
  await put(admin.store, 'b{%}', 2, { tags: ['blue'] })
  await put(other.store, 'c', 3)
})

afterAll(async () => {
  await admin.store.clear()
  await other.store.clear()
  await Promise.all([admin.store.close(), other.store.close()])
  await close()
})

async function collect<Page>(pages: AsyncGenerator<Page>): Promise<readonly Page[]> {
  const collected: Page[] = []
  for await (const page of pages) collected.push(page)
  return collected
}

test('the keys of the namespace that have an entry are found, however they are written in Redis', async () => {
  const pages = await collect(admin.keys())
  expect(new Set(pages.flatMap(({ keys }) => keys))).toEqual(new Set(['a', 'b{%}']))
})

test('the keys that carry a tag are found', async () => {
  const found = await Promise.all((await collect(admin.keys())).map(({ withTag }) => withTag(['blue', 'green'])))
  expect(new Set(found.flat())).toEqual(new Set(['b{%}']))
})

test('other namespaces are found once', async () => {
  const pages = await collect(admin.namespaces())
  expect(pages.some(({ own }) => own)).toBe(true)
  expect(pages.flatMap(({ others }) => others).filter((name) => name.startsWith(namespace))).toEqual([
    `${namespace}:other`,
  ])
})

test('a namespace without tags holds a key that has an entry, and no other', async () => {
  expect(await other.holds(['none', 'c'])).toBe(true)
  expect(await other.holds(['none'])).toBe(false)
})
