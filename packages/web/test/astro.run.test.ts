import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { resolve } from 'node:path'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { buildAstro, startAstro } from '../../../test/support/astro-app.ts'
import type { AppServer } from '../../../test/support/built-app.ts'
import { until } from '../../../test/support/until.ts'
import { ask } from '../../../test/wire.ts'
import { type Name, NAMES } from './support/users.ts'

const APP = resolve(__dirname, '../../../examples/astro-minimal/test/app')

let redis: RedisServer
/** Two processes over one Redis. */
let servers: AppServer[] = []
let bare: AppServer

beforeAll(async () => {
  redis = await startRedis({ own: true })
  await buildAstro(APP)
  await buildAstro(APP, { BARE: '1' })
  const env = { REDIS_URL: redis.url }
  servers = await Promise.all([
    startAstro(APP, { output: 'dist/cached', env }),
    startAstro(APP, { output: 'dist/cached', env }),
  ])
  bare = await startAstro(APP, { output: 'dist/bare' })
})

afterAll(async () => {
  await Promise.all([...servers, bare].map((server) => server?.stop()))
  await redis?.stop()
})

interface Seen {
  readonly status: number
  readonly fields: IncomingHttpHeaders
  readonly cookies: readonly string[]
  readonly body: string
  readonly cache: string
}

/** Fields that a cache adds (RFC 9111 section 5), or that Node makes. */
const OF_THE_CACHE = ['age', 'date', 'cache-status', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']

const portOf = (server: AppServer | undefined): number => Number(server?.origin.split(':').pop())

/** From the first process, unless it is from another one. All are one site. */
async function get(path: string, headers: Record<string, string> = {}, server = servers[0]): Promise<Seen> {
  const answer = await ask(portOf(server), path, { headers })
  const { 'set-cookie': cookies = [], 'cache-status': cache = '', ...others } = answer.headers
  const fields = Object.fromEntries(Object.entries(others).filter(([name]) => !OF_THE_CACHE.includes(name)))
  return { status: answer.status, fields, cookies, body: answer.body.toString(), cache: String(cache) }
}

/** Asks until the response is a hit: the first one is committed behind its last byte. */
async function hitOf(path: string, headers?: Record<string, string>, server?: AppServer): Promise<Seen> {
  let seen = await get(path, headers, server)
  await until(
    async () => seen.cache.includes('; hit') || (seen = await get(path, headers, server)).cache.includes('; hit'),
    () => seen.cache,
  )
  return seen
}

/** To the second process, unless it is to another one. */
async function post(path: string, body: object = {}, server = servers[1]): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  return (await ask(portOf(server), path, { method: 'POST', headers, body: JSON.stringify(body) })).status
}

const gate = async (how: { readonly closed: boolean }): Promise<unknown> =>
  await Promise.all(servers.map((server) => post('/gate', how, server)))

const cookiesOf = (name: Name): Record<string, string> => ({ cookie: `user=${name}; ${name}=1; astro-session=${name}` })

/** How often the pages of a path have been rendered, in both processes. */
const runsOf = (path: string): number =>
  servers.reduce((sum, { output }) => sum + output().split(`run ${path}\n`).length - 1, 0)

/** Asks both processes at once, each some times. */
const crowd = (path: string): Promise<Seen[]> =>
  Promise.all(servers.flatMap((server) => Array.from({ length: 50 }, () => get(path, {}, server))))

const WAYS: readonly (readonly [way: string, fieldsOf: (name: Name) => Record<string, string>])[] = [
  ['cookie', cookiesOf],
  ['has-cookie', cookiesOf],
  ['cookie-field', cookiesOf],
  ['fields', cookiesOf],
  ['copied-request', cookiesOf],
  ['cloned-request', cookiesOf],
  ['session', cookiesOf],
  ['local', cookiesOf],
  ['rewritten', cookiesOf],
  ['authorization', (name) => ({ authorization: `Bearer ${name}` })],
  ['user-field', (name) => ({ 'x-user-id': name })],
]

describe.each(['/leaks', '/rules'])('no user gets what names the other, of %s', (pages) => {
  it.each(WAYS)('by %s', async (way, fieldsOf) => {
    const visit = async (name: Name): Promise<void> => {
      const { body, cookies } = await get(`${pages}/${way}`, fieldsOf(name))
      expect(`${body} ${cookies.join(' ')}`).not.toContain(name === 'alice' ? 'bruno' : 'alice')
    }
    await Promise.all(NAMES.map(visit))
    for (const name of NAMES.toReversed()) await visit(name)
  })

  it('as each gets a page of its own', async () => {
    for (const name of NAMES) expect((await get(`${pages}/cookie`, cookiesOf(name))).body).toContain(name)
  })

  it('while a page that reads nothing of them is stored for both', async () => {
    const all = [await get(`${pages}/nothing`, cookiesOf('alice')), await hitOf(`${pages}/nothing`, cookiesOf('bruno'))]
    expect(new Set(all.map(({ body }) => body)).size).toBe(1)
  })
})

describe('a page that sets cookies', () => {
  it('is not stored, and its client gets them once', async () => {
    for (const name of ['alice', 'bruno']) {
      const { cookies, cache } = await get(`/visited?by=${name}`)
      expect([cookies, cache]).toEqual([
        [expect.stringContaining(`seen=${name}`), expect.stringContaining('theme=dark')],
        expect.stringContaining('set-cookie'),
      ])
    }
    expect((await get('/visited?by=alice')).cookies).toHaveLength(2)
  })
})

describe('a hit is what the app alone responds', () => {
  it.each([
    ['a page that declares its lifetime', '/declared'],
    ['an endpoint whose lifetime is that of a rule', '/rules/none'],
    ['an endpoint of paths', '/shop/hat'],
    ['what is missing, by an endpoint with a text', '/shop/missing-text'],
    ['a redirect', '/shop/moved'],
  ])('%s', async (_name, path) => {
    const miss = await get(path)
    const hit = await hitOf(path, {}, servers[1])
    const alone = await get(path, {}, bare)
    // The cache gives each stored response a validator.
    const { etag: _, ...fields } = hit.fields
    expect({ ...hit, fields, cache: '' }).toEqual(alone)
    expect({ ...miss, cache: '' }).toEqual(alone)
  })

  it.each([
    ['what is missing, and has no body: Astro renders the page for that', '/shop/missing'],
    ['a page that calls itself private, whatever the rules say', '/rules/private'],
    ['the page that a rewrite of an anonymous request shows', '/rewrite'],
    ['what a copied list of all fields says of an anonymous client', '/leaks/copied-headers'],
    ['a page for which code reads a field that no key holds', '/leaks/forwarded'],
  ])('but nothing is stored of %s', async (_name, path) => {
    const all = [await get(path), await get(path), await get(path, {}, bare)]
    expect(all.map(({ cache }) => cache.includes('; hit'))).toEqual([false, false, false])
    expect(new Set(all.map(({ status, body, fields }) => `${status} ${body} ${fields['content-type']}`)).size).toBe(1)
  })

  it('but a page that declares nothing sees all fields of its client', async () => {
    const { body } = await get('/silent-fields', { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'cdn.test' })
    expect(JSON.parse(body)).toEqual(['https', 'cdn.test'])
  })

  it('and to a HEAD, of what is missing', async () => {
    const port = portOf(servers[0])
    const path = '/shop/missing-text'
    await hitOf(path)
    const { headers } = await ask(port, path, { method: 'HEAD' })
    expect([headers['cache-status'], headers['content-type']]).toEqual([
      expect.stringContaining('; hit'),
      'text/plain;charset=UTF-8',
    ])
  })

  it('but a page that declares nothing is rendered for each', async () => {
    await get('/silent')
    expect((await get('/silent')).cache).toContain('no-freshness')
    expect(runsOf('/silent')).toBe(2)
  })

  it('and has a 304 for who has it', async () => {
    const { etag = '' } = (await hitOf('/shop/again')).fields
    expect(await get('/shop/again', { 'if-none-match': etag })).toMatchObject({ status: 304, body: '' })
  })
})

describe('one run of the fleet', () => {
  it('serves all who come at once to a path of paths that nobody has stored', async () => {
    const bodies = (await crowd('/shop/slow-cold')).map(({ body }) => body.trim())
    expect([new Set(bodies), runsOf('/shop/slow-cold')]).toEqual([new Set(['run 1']), 1])
  })

  it('is what an expiry costs, while all others get the stale page', async () => {
    const path = '/shop/brief'
    await hitOf(path)
    const before = runsOf(path)
    await gate({ closed: true })
    const crowds: Promise<Seen[]>[] = []
    await until(() => {
      crowds.push(crowd(path))
      return runsOf(path) > before
    })
    const others = await crowd(path)
    expect(others.every(({ cache }) => cache.includes('stale-while-revalidate'))).toBe(true)
    expect(runsOf(path)).toBe(before + 1)
    await gate({ closed: false })
    for (const { status } of (await Promise.all(crowds)).flat()) expect(status).toBe(200)
  })

  it('is not stored where its page sees a parameter that is not in the key', async () => {
    expect((await get('/shop/boots?secret=1&page=1')).cache).toContain('unkeyed-url')
    await hitOf('/shop/boots?page=2')
    const { body, cache } = await get('/shop/boots?secret=2&page=2')
    expect([body.includes('secret'), cache.includes('; hit')]).toEqual([false, true])
  })

  it('shows a page no field that is not in the key', async () => {
    const { body } = await get('/shop/fields', {
      'x-forwarded-host': 'evil.test',
      'if-none-match': '"1"',
      range: 'bytes=0-1',
    })
    expect(Object.keys(JSON.parse(body) as object)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(x-forwarded-host|if-none-match|range)$/)]),
    )
  })

  it('goes on for the others when its client leaves', async () => {
    const leaving = new AbortController()
    const headers = { host: 'shop' }
    const first = request({ port: portOf(servers[0]), path: '/shop/slow-left', headers, signal: leaving.signal })
    const left = once(first.end(), 'error')
    await until(() => runsOf('/shop/slow-left') === 1)
    const other = get('/shop/slow-left')
    // When this is answered, the one before it has come.
    await get('/silent-fields')
    leaving.abort()
    await left
    expect((await other).body.trim()).toBe('run 1')
    expect(servers[0]?.output()).not.toMatch(/aborted|ERROR/)
  })

  it('is no part of what a POST gets', async () => {
    expect(await post('/shop/posted')).toBe(200)
  })
})

describe('an invalidation by a page', () => {
  it.each([
    ['a tag', { tags: ['declared'] }],
    ['a tag with a blank', { tags: ['with a blank, and a comma'] }],
    ['the path', { path: '/declared' }],
    ['one of them, with a tag that nothing has', { path: '/declared', tags: ['none'] }],
  ])('ends what is stored, in all processes, by %s', async (name, what) => {
    const path = `/declared?by=${encodeURIComponent(name)}`
    await hitOf(path)
    expect(await post('/invalidate', what)).toBe(204)
    expect((await get(path)).cache).not.toContain('; hit')
  })
})

describe('a page that fails', () => {
  it('is what the app alone responds', async () => {
    const path = '/shop/broken'
    expect({ ...(await get(path)), cache: '' }).toEqual(await get(path, {}, bare))
  })

  it('is replaced by the stale one within staleIfError', async () => {
    await get('/shop/failing')
    await until(async () => runsOf('/shop/failing') > 1 || (await get('/shop/failing')).status !== 200)
    expect(await get('/shop/failing')).toMatchObject({ status: 200, body: expect.stringContaining('run 1') })
  })
})
