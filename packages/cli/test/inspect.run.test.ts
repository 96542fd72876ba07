import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { hostname } from 'node:os'
import { json, type Store, structured } from '@cattlegrid/core'
import { hotKeyDigest } from '@cattlegrid/explain'
import { cattlegrid, type Ran, rowsOf } from './support/cli.ts'
import { entryOf, lead, LONG, put, request } from '../../../test/support/entries.ts'
import { openRedis, type RedisUnderTest } from '../../../test/support/redis-under-test.ts'

let redis: RedisUnderTest
let store: Store

beforeEach(async () => {
  redis = await openRedis()
  store = await redis.open()
})
afterEach(() => redis.stop())

const inspect = (key: string, ...more: readonly string[]): Promise<Ran> =>
  cattlegrid(['inspect', '--namespace', redis.namespace, '--timeout', '20s', ...more, '--', key])

async function rows(key: string): Promise<Record<string, string>> {
  const { code, out, err } = await inspect(key)
  expect([code, err]).toEqual([0, ''])
  return rowsOf(out)
}

async function document(key: string): Promise<Record<string, unknown>> {
  const { code, out, err } = await inspect(key, '--json')
  expect([code, err]).toEqual([0, ''])
  expect(out.trimEnd()).not.toContain('\n')
  return JSON.parse(out) as Record<string, unknown>
}

describe('an entry', () => {
  test('that is fresh is shown with its times, its value, its size and its tags', async () => {
    const windows = { ttl: 600_000, staleWhileRevalidate: 60_000, staleIfError: 3_600_000 }
    await put(store, 'k', { id: 7 }, { ...windows, loadTime: 4200, tags: ['user:7', 'shop'] })
    const shown = await rows('k')
    expect(shown).toMatchObject({
      key: 'k',
      state: 'fresh',
      'stale for': '1 min 0 s during a refresh, 1 h 0 min if loads fail',
      value: '{ id: 7 }',
      size: '8 bytes',
      'load time': '4.2 s',
      tags: 'user:7, shop',
      lease: 'none',
      cooldown: 'none',
    })
    expect(shown['age']).toMatch(/^\d+(\.\d)? m?s$/)
    expect(shown['fresh for']).toMatch(/^9 min \d+ s$|^10 min 0 s$/)
  })

  test('is found by the digest that top shows for its key', async () => {
    await put(store, 'user:7', { id: 7 })
    await put(store, 'user:8', { id: 8 })
    expect(await rows(hotKeyDigest('user:8'))).toMatchObject({ key: 'user:8', state: 'fresh', value: '{ id: 8 }' })
    expect(await rows(hotKeyDigest('user:9'))).toMatchObject({ key: hotKeyDigest('user:9'), state: 'gone' })
  })

  test('that is fresh is one JSON document with --json', async () => {
    await put(store, 'k', { id: 7 }, { staleIfError: 1000, loadTime: 60, tags: ['shop'] })
    const { entry, ...rest } = await document('k')
    expect(rest).toEqual({ key: 'k', storedAs: 'k', state: 'fresh', lease: null, cooldown: null, notes: [] })
    const { age, freshFor, ...others } = entry as Record<string, number>
    expect(others).toEqual({
      staleWhileRevalidate: 0,
      staleIfError: 1000,
      loadTime: 60,
      size: 8,
      tags: ['shop'],
      form: 'json',
      value: { id: 7 },
    })
    expect((age ?? 0) + (freshFor ?? 0)).toBeGreaterThan(LONG - 100)
  })

  test('that was expired by hand is stale', async () => {
    await put(store, 'k', 1, { staleWhileRevalidate: LONG })
    await store.invalidate('k', 'expire', 0)
    const shown = await rows('k')
    expect(shown['state']).toBe('stale')
    expect(shown['fresh for']).toMatch(/^no longer, since \d/)
    expect(await document('k')).toMatchObject({ state: 'stale' })
  })

  test('is gone after one of its tags was invalidated, and the tag is named', async () => {
    await put(store, 'k', 1, { tags: ['user:7', 'shop'] })
    await store.invalidateTags(['shop'], 'delete')
    expect(await rows('k')).toMatchObject({
      state: 'gone',
      'stale for': 'no longer',
      value: '1',
      note: expect.stringContaining('Tag shop'),
    })
    expect(await document('k')).toMatchObject({ state: 'gone', notes: [expect.stringContaining('Tag shop')] })
  })

  test('is stale after one of its tags was expired, and the tag is named', async () => {
    await put(store, 'k', 1, { tags: ['user:7', 'shop'], staleIfError: LONG })
    await store.invalidateTags(['shop'], 'expire')
    expect(await document('k')).toMatchObject({ state: 'stale', notes: [expect.stringContaining('Tag shop')] })
  })

  test('that does not exist is gone, and not an error', async () => {
    await put(store, 'another', 1)
    expect(await rows('k')).toEqual({ key: 'k', state: 'gone', lease: 'none', cooldown: 'none' })
    expect(await document('k')).toEqual({
      key: 'k',
      storedAs: 'k',
      state: 'gone',
      entry: null,
      lease: null,
      cooldown: null,
      notes: [],
    })
  })

  test('whose key begins with a dash, or is empty, is found', async () => {
    await put(store, '--json', 1)
    await put(store, '', 2)
    expect(await rows('--json')).toMatchObject({ key: '--json', value: '1' })
    expect(await rows('')).toMatchObject({ key: "''", value: '2' })
  })
})

describe('a key without a value', () => {
  test('that is being loaded shows its lease, the process that holds it, and whether a caller waits', async () => {
    const held = (waiting: string): RegExp =>
      new RegExp(`^held by pid ${process.pid} on ${hostname()} for .+, .+ remaining, ${waiting}$`)
    await lead(store, 'k')
    expect((await rows('k'))['lease']).toMatch(held('not awaited'))
    await store.acquire('k', { ...request, wake: true })
    expect((await rows('k'))['lease']).toMatch(held('awaited'))
    expect(await document('k')).toMatchObject({
      state: 'gone',
      lease: {
        heldFor: expect.any(Number),
        remaining: expect.any(Number),
        awaited: true,
        holder: { lease: expect.any(String), pid: process.pid, host: hostname() },
      },
    })
  })

  test('whose last loads failed shows the rest of the cooldown, the number of failures and the reason', async () => {
    const failure = { name: 'QueryError', code: '57014' }
    const lease = await lead(store, 'k')
    await store.release(lease, { kind: 'failed', failure, cooldown: LONG, attempts: 3 })
    expect((await rows('k'))['cooldown']).toMatch(/ remaining, after 3 failed loads: QueryError 57014$/)
    expect(await document('k')).toMatchObject({ cooldown: { remaining: expect.any(Number), attempts: 3, failure } })
  })
})

const values: readonly (readonly [title: string, value: unknown, shown: RegExp, form: string])[] = [
  ['a Map', new Map([['a', 1n]]), /^Map\(1\) \{ 'a' => 1n \}$/, 'text'],
  ['undefined', undefined, /^undefined$/, 'text'],
  ['bytes that are text', Buffer.from('héllo'), /^6 bytes: "héllo"$/, 'base64'],
  ['bytes that are none', Buffer.from([0, 255, 27]), /^3 bytes: 00 ff 1b/, 'base64'],
  ['a number', 0.5, /^0\.5$/, 'json'],
]

describe('a value', () => {
  test.each(values)('%s is shown in its form', async (_, value, shown, form) => {
    await store.put('k', entryOf(value), structured)
    expect((await rows('k'))['value']).toMatch(shown)
    expect(await document('k')).toMatchObject({ entry: { form } })
  })

  test('of a custom codec is shown as its bytes', async () => {
    const own = { id: 99, encode: () => Buffer.from('<x/>'), decode: () => 'never' }
    await store.put('k', entryOf(1), own)
    expect((await rows('k'))['value']).toBe('4 bytes: "<x/>"')
    expect(await document('k')).toMatchObject({
      entry: { form: 'base64', value: Buffer.from('<x/>').toString('base64') },
    })
  })

  test('that is long is shortened, and complete with --json', async () => {
    const value = { list: Array.from({ length: 5000 }, (_, index) => `item ${index}`), text: 'x'.repeat(100_000) }
    const wide = Object.fromEntries(value.list.map((item) => [item, item]))
    await put(store, 'k', { ...value, wide })
    const { out } = await inspect('k')
    expect(out.length).toBeLessThan(6000)
    expect(out).toContain('more lines; --json shows all of them')
    expect(await document('k')).toMatchObject({ entry: { value: { ...value, wide } } })
  })
})

// Colours, a cleared screen, a title, 8-bit controls, a reversed reading direction, and lines that look like labels.
const hostile = '\u001B[2J\u001B]0;title\u0007\u009B31m\u202E\u2028\r\nlease     none'
const OBEYED = /[^\P{C}\n]|[\u2028\u2029]/u

describe('a hostile value', () => {
  test('cannot control the terminal', async () => {
    const error = new Error(hostile)
    error.stack = `Error: ${hostile}\nlease     held`
    await store.put(hostile, entryOf({ [hostile]: `${hostile}\0`, error }, { tags: [hostile] }), structured)
    const lease = await lead(store, hostile, { seen: versionOf(await store.read(hostile, structured)) })
    const failure = { name: hostile, code: hostile }
    await store.release(lease, { kind: 'failed', failure, cooldown: LONG, attempts: 1 })
    const { code, out } = await inspect(hostile)
    expect(code).toBe(0)
    expect(out).not.toMatch(OBEYED)
    expect(out.match(/^lease/gm)).toHaveLength(1)
    expect(out).toContain('\\x1b[2J')
  })

  test('has no line that could be taken for a label', async () => {
    const error = new Error('no')
    error.stack = 'Error: no\nlease     held for 9.0 s'
    await store.put('k', entryOf(error), structured)
    const { out } = await inspect('k')
    expect(out).toContain('held for 9.0 s')
    expect(out.match(/^lease.*$/gm)).toEqual(['lease      none'])
  })

  test('is escaped in JSON, and unchanged when parsed', async () => {
    await put(store, hostile, { [hostile]: hostile }, { tags: [hostile] })
    const { out } = await inspect(hostile, '--json')
    expect(out).not.toMatch(OBEYED)
    expect(JSON.parse(out)).toMatchObject({ key: hostile, entry: { value: { [hostile]: hostile }, tags: [hostile] } })
  })

  test.each([
    ['a text', Buffer.from('hello')],
    ['an empty string', Buffer.alloc(0)],
    ['all bytes', Buffer.from(Array.from({ length: 256 }, (_, index) => 255 - index))],
    ['the first two bytes of a record', Buffer.from([0xc5, 1])],
    [
      'a head whose tags are cut off',
      Buffer.concat([Buffer.from([0xc5, 1]), Buffer.alloc(51), Buffer.from([0, 255, 255])]),
    ],
  ])('%s at the entry’s key is gone, with a note', async (_, bytes) => {
    await redis.client.set(`${redis.namespace}:{k}`, bytes)
    await redis.client.set(`${redis.namespace}:{k}:l`, bytes)
    expect(await rows('k')).toMatchObject({ state: 'gone', note: expect.stringContaining('No readable entry') })
    expect(await document('k')).toMatchObject({ state: 'gone', entry: null, notes: [expect.any(String)] })
  })

  test('a hash at the entry’s key is gone, with a note', async () => {
    await redis.client.hSet(`${redis.namespace}:{k}`, 'field', 'value')
    expect(await rows('k')).toMatchObject({ state: 'gone', note: expect.stringContaining('WRONGTYPE') })
  })

  test('a hash at the lease’s key does not hide the entry', async () => {
    await put(store, 'k', 1)
    await redis.client.hSet(`${redis.namespace}:{k}:l`, 'field', 'value')
    expect(await rows('k')).toMatchObject({ state: 'fresh', value: '1', note: expect.stringContaining('lease') })
  })

  test('a value that its codec cannot read is shown as bytes', async () => {
    await store.put('k', entryOf('{'), { id: json.id, encode: () => Buffer.from('{'), decode: () => 'never' })
    expect((await rows('k'))['value']).toBe('1 byte: "{"')
  })
})

function versionOf(read: Awaited<ReturnType<Store['read']>>): string {
  if (read.kind !== 'found') throw new Error(`found ${read.kind}`)
  return read.entry.version
}
