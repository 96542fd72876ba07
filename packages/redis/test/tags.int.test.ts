import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { entryOf, found, lead } from './entries.ts'
import { openRedis, type RedisUnderTest } from './redis.ts'

let redis: RedisUnderTest
let store: Store

beforeEach(async () => {
  redis = await openRedis()
  store = await redis.open()
})
afterEach(() => redis.stop())

const tagKey = (tag: string): string => `${redis.namespace}:{%tags}:n:${tag}`

async function fill(tags: readonly string[]): Promise<void> {
  const lease = await lead(store, 'k', { tags: true })
  expect((await store.commit(lease, entryOf('value', { tags }), json)).kind).toBe('stored')
}

describe('tag numbers that Redis has evicted', () => {
  test('make the entry unusable: nobody knows whether the tag fell', async () => {
    await fill(['a', 'b'])
    await found(store, 'k')
    await redis.client.del(tagKey('b'))
    expect((await store.read('k', json)).kind).toBe('missing')
  })

  test('do not bring a fallen tag’s entry back once the tag is used again', async () => {
    await fill(['a'])
    await store.invalidateTags(['a'])
    await redis.client.del(tagKey('a'))
    const other = await lead(store, 'other', { tags: true })
    expect((await store.commit(other, entryOf(1, { tags: ['a'] }), json)).kind).toBe('stored')
    expect((await store.read('k', json)).kind).toBe('missing')
  })

  test('with the whole sequence turn a running load away', async () => {
    const lease = await lead(store, 'k', { tags: true })
    await redis.client.del(`${redis.namespace}:{%tags}`)
    expect(await store.commit(lease, entryOf(1, { tags: ['a'] }), json)).toEqual({ kind: 'refused', why: 'tag-voided' })
  })

  test('are made again by the next load', async () => {
    await fill(['a'])
    await redis.client.del(tagKey('a'))
    const read = await store.read('k', json)
    const lease = await lead(store, 'k', { tags: true, seen: read.kind === 'missing' ? read.version : '' })
    expect((await store.commit(lease, entryOf('again', { tags: ['a'] }), json)).kind).toBe('stored')
    expect((await found(store, 'k')).value).toBe('again')
  })
})

describe('a load that did not say that it may name tags', () => {
  test('is turned away when it does: nobody noted when it began', async () => {
    const lease = await lead(store, 'k', { tags: false })
    expect(await store.commit(lease, entryOf(1, { tags: ['a'] }), json)).toEqual({ kind: 'refused', why: 'tag-voided' })
  })
})
