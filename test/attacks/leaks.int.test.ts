import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { describe, expect, test } from '@jest/globals'
import { createClient } from 'redis'
import { ask, type Ask, Connection } from './raw-client.ts'
import type { Page, Reply, Seen } from './shop.ts'
import { closed, countsOf, FRAMEWORKS, type Framework, gate, openShop, portOf, until } from './stage.ts'

const cache = { ttl: '1m' } as const

/** One of two apps over one Redis, each with a client and a cache of its own, as two processes have them. */
interface Side {
  readonly port: number
  readonly count: ReturnType<typeof countsOf>
}

async function between(framework: Framework, pages: readonly Page[], play: (one: Side, other: Side) => Promise<void>) {
  const namespace = `attacks-${randomUUID()}`
  const ends: (() => Promise<unknown>)[] = []
  const side = async (): Promise<Side> => {
    const client = createClient({ url: process.env['CATTLEGRID_TEST_REDIS_URL'] ?? '' })
    client.on('error', () => undefined)
    await client.connect()
    ends.push(async () => client.destroy())
    // A busy machine must not look like a Redis that is away.
    const store = redisStore({ client, namespace })
    const own: Cache = createCache({ store, storeTimeout: '20s', outage: false })
    ends.push(() => own.close({ drain: '1s' }))
    const server: Server = await openShop(framework, own, pages)
    ends.push(() => closed(server))
    return { port: portOf(server), count: countsOf(own) }
  }
  try {
    await play(await side(), await side())
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

describe.each(FRAMEWORKS)('two %s apps over one Redis', (framework) => {
  const user = ({ headers }: Seen): string => String(headers['x-user'] ?? headers.authorization ?? 'nobody')
  const as = (name: string): Ask => ({ target: '/page', fields: [['X-User', name]] })

  /** What makes an answer its own client's. */
  const OWN: readonly (readonly [string, (seen: Seen) => Reply])[] = [
    ['sets a cookie', (seen) => ({ headers: { 'set-cookie': `sid=${user(seen)}` }, body: user(seen) })],
    ['is private', (seen) => ({ headers: { 'cache-control': 'max-age=60, PRIVATE' }, body: user(seen) })],
    ['is not to be stored', (seen) => ({ headers: { 'cache-control': ['max-age=60', 'No-Store'] }, body: user(seen) })],
    ['asks who is there', (seen) => ({ status: 401, headers: { 'www-authenticate': 'Basic' }, body: user(seen) })],
    ['varies by everything', (seen) => ({ headers: { vary: '*' }, body: user(seen) })],
  ]
  test.each(OWN)(
    'an answer that %s reaches no follower of the other app, nor any that comes later',
    async (_, answer) => {
      const door = gate()
      let held = true
      const handle: Page['handle'] = async (seen) => {
        if (held) await door.opened
        return answer(seen)
      }
      await between(framework, [{ path: '/page', cache, handle }], async (one, other) => {
        const leader = ask(one.port, as('alice'))
        await until(() => one.count('load') === 1)
        const names = ['bob', 'carol', 'dave', 'erin']
        const followers = names.map((name, index) => ask(index % 2 === 0 ? one.port : other.port, as(name)))
        await until(() => one.count('join') >= 2 && other.count('join') >= 1)
        held = false
        door.open()
        for (const [index, { raw, body }] of (await Promise.all(followers)).entries()) {
          expect(body).toBe(names[index])
          expect(raw).not.toMatch(new RegExp(['alice', ...names].filter((name) => name !== names[index]).join('|')))
        }
        expect((await leader).body).toBe('alice')
        expect((await ask(other.port, as('frank'))).raw).not.toMatch(/alice|bob|carol|dave|erin/)
      })
    },
  )

  test('what credentials were answered stays in the app that answered, and holds up no stranger of the other', async () => {
    const door = gate()
    const handle: Page['handle'] = async (seen) => {
      if (seen.headers.authorization !== undefined) await door.opened
      return { headers: { 'cache-control': 'max-age=60' }, body: user(seen) }
    }
    for (const options of [cache, undefined])
      await between(framework, [{ path: '/page', cache: options, handle }], async (one, other) => {
        const known = (name: string): Ask => ({ target: '/page', fields: [['Authorization', name]] })
        const users = ['alice', 'bob'].map((name, index) => ask(index === 0 ? one.port : other.port, known(name)))
        for (const { port } of [other, one, other]) expect((await ask(port, { target: '/page' })).body).toBe('nobody')
        door.open()
        expect((await Promise.all(users)).map(({ body }) => body)).toEqual(['alice', 'bob'])
        expect((await ask(other.port, { target: '/page' })).body).toBe('nobody')
      })
  })

  test.each(['before the answer', 'in the middle of it'])(
    'a leader whose client leaves %s leaves nobody of the other app behind',
    async (when) => {
      const door = gate()
      let runs = 0
      const handle: Page['handle'] = async (_, run) => {
        runs += 1
        if (runs === 1) await door.opened
        return { body: `run ${run}` }
      }
      await between(framework, [{ path: '/page', cache, handle }], async (one, other) => {
        const leader = await Connection.open(one.port)
        leader.write({ target: '/page' })
        await until(() => runs === 1)
        const followers = [1, 2, 3].map(() => ask(other.port, { target: '/page' }))
        await until(() => other.count('join') >= 2)
        if (when === 'before the answer') leader.leave()
        door.open()
        leader.leave()
        for (const { status, body } of await Promise.all(followers)) expect([status, body]).toEqual([200, 'run 1'])
        expect(runs).toBe(1)
      })
    },
  )

  test('a poisoned request at one app is no poison at the other', async () => {
    const handle: Page['handle'] = (seen) => ({ body: JSON.stringify([seen.headers, seen.url, seen.query]) })
    await between(framework, [{ path: '/page', cache: { ...cache, query: ['page'] }, handle }], async (one, other) => {
      await ask(one.port, {
        target: '/page?utm=evil#evil',
        fields: [
          ['X-Forwarded-Host', 'evil'],
          ['Range', 'bytes=0-1'],
          ['X-Rewrite-URL', '/evil'],
        ],
      })
      const { status, raw } = await ask(other.port, { target: '/page' })
      expect([status, /evil/.test(raw)]).toEqual([200, false])
    })
  })
})
