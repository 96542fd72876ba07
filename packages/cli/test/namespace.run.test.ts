import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { cattlegrid, type Ran, rowsOf, start } from './support/cli.ts'
import { put } from '../../../test/support/entries.ts'
import { type Client, connect } from '../../../test/support/redis-under-test.ts'
import { until } from '../../../test/support/until.ts'

let server: RedisServer
let client: Client
let shop: Store

beforeAll(async () => {
  server = await startRedis({ own: true })
  client = await connect(server.url)
  shop = redisStore({ client, namespace: 'shop' })
  await put(shop, 'k', 1)
  // Of other libraries: no namespaces.
  await client.set('bull:{queue}', 'text')
  await client.hSet('session:{7}', 'user', '7')
  await client.set('plain', '1')
})
afterAll(async () => {
  await shop.close()
  await client.close()
  await server.stop()
})

const run = (...args: readonly string[]): Promise<Ran> => cattlegrid([...args, '--timeout', '20s'], server.url)
const note = "Nothing stands under the namespace 'shpo'; namespaces found: shop"

describe('a namespace in which nothing stands', () => {
  test('is named by inspect, with the namespaces that have entries', async () => {
    const { code, out } = await run('inspect', 'k', '--namespace', 'shpo')
    expect(code).toBe(0)
    expect(rowsOf(out)).toMatchObject({ state: 'gone', note })
    const { out: json } = await run('inspect', 'k', '--namespace', 'shpo', '--json')
    expect(JSON.parse(json)).toMatchObject({ state: 'gone', notes: [note] })
  })

  test.each([
    ['delete', 'k'],
    ['expire', 'k'],
    ['tags', 'user:7'],
    ['expire-tags', 'user:7'],
  ])('is named by %s', async (command, operand) => {
    // Tags leave their number in a namespace.
    const namespace = `none:${randomUUID()}`
    const { code, err } = await run(command, operand, '--namespace', namespace)
    expect(code).toBe(0)
    expect(err).toMatch(`Nothing stands under the namespace '${namespace}'; namespaces found: `)
    expect(err).toMatch(/\bshop\b/)
  })

  test('is named by watch, which goes on', async () => {
    const running = start(['watch', '--namespace', 'shpo', '--timeout', '20s'], server.url)
    await until(() => running.err.includes("Nothing stands under the namespace 'shpo'"))
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(0)
  })
})

describe('a namespace in which something stands', () => {
  test('is not reported, whether it is the last entry that is deleted or another', async () => {
    await put(shop, 'other', 1)
    expect(rowsOf((await run('inspect', 'none', '--namespace', 'shop')).out)).not.toHaveProperty('note')
    const alone = redisStore({ client, namespace: 'alone' })
    await put(alone, 'last', 1)
    expect((await run('delete', 'last', '--namespace', 'alone')).err).toBe('')
    await alone.close()
  })

  test('is known by the entry that is asked for, or by its tags, without a search', async () => {
    const scans = async (): Promise<number> => {
      const stats = await client.info('commandstats')
      return Number(/cmdstat_scan:calls=(\d+)/.exec(stats)?.[1] ?? 0)
    }
    const known = redisStore({ client, namespace: 'known' })
    await put(known, 'k', 1)
    const before = await scans()
    expect((await run('expire', 'none', 'k', '--namespace', 'known')).err).toBe('')
    await known.invalidateTags(['user:7'], 'delete')
    expect(rowsOf((await run('inspect', 'none', '--namespace', 'known')).out)).not.toHaveProperty('note')
    expect(await scans()).toBe(before)
    await known.close()
  })

  test('is not reported where only its tags are left', async () => {
    const tagged = redisStore({ client, namespace: 'tagged' })
    await tagged.invalidateTags(['user:7'], 'delete')
    expect(rowsOf((await run('inspect', 'k', '--namespace', 'tagged')).out)).not.toHaveProperty('note')
    await tagged.close()
  })
})

test('a server that holds more names than are searched is reported as searched in part', async () => {
  const crowded = await startRedis({ own: true })
  const writer = await connect(crowded.url)
  await writer.sendCommand(['EVAL', "for i = 1, 150000 do redis.call('SET', 'n:' .. i, '') end", '0'])
  await writer.close()
  const { out } = await cattlegrid(['inspect', 'k', '--namespace', 'shop', '--timeout', '20s'], crowded.url)
  await crowded.stop()
  const { note: said } = rowsOf(out)
  expect(said).toMatch(
    /^Of \d+,\d{3} names searched, none stands under the namespace 'shop'; no other namespace was found$/,
  )
  const searched = Number(/\d+,\d{3}/.exec(said ?? '')?.[0].replace(',', ''))
  expect(searched).toBeLessThan(110_000)
})

test('a user who may not scan gets the answer of the command alone', async () => {
  await client.sendCommand(['ACL', 'SETUSER', 'narrow', 'on', '>pw', '~*', '&*', '+@all', '-scan'])
  const url = server.url.replace('//', '//narrow:pw@')
  const { code, out, err } = await cattlegrid(['delete', 'k', '--namespace', 'shpo', '--timeout', '20s'], url)
  expect([code, out, err]).toEqual([0, 'deleted  k\n', ''])
})
