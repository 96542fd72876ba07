import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { AppServer } from '../../../test/support/built-app.ts'
import { buildKit, startKit } from '../../../test/support/sveltekit-app.ts'
import { type Name, NAMES } from './support/users.ts'

const APP = resolve(__dirname, '../../../examples/sveltekit-minimal/test/app')

let cached: AppServer
let bare: AppServer

beforeAll(async () => {
  await buildKit(APP)
  cached = await startKit(APP)
  bare = await startKit(APP, { BARE: '1' })
})

afterAll(async () => {
  await Promise.all([cached?.stop(), bare?.stop()])
})

interface Seen {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
  readonly cache: string
}

/** Fields that a cache adds (RFC 9111 section 5), or that Node makes. */
const OF_THE_CACHE = ['age', 'date', 'cache-status', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']

async function get(
  { origin }: AppServer,
  path: string,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Seen> {
  const response = await fetch(origin + path, {
    redirect: 'manual',
    headers: { host: 'shop.test', ...headers },
    ...init,
  })
  const fields = Object.fromEntries([...response.headers].filter(([name]) => !OF_THE_CACHE.includes(name)))
  return {
    status: response.status,
    fields,
    body: await response.text(),
    cache: response.headers.get('cache-status') ?? '',
  }
}

const fieldsOf = (name: Name): Record<string, string> => ({
  cookie: `user=${name}`,
  'x-user-id': name,
  'x-client-address': name,
})

/** Both users at once, and then each of them again. Returns what they got. */
async function visits(
  path: string,
  fields: (name: Name) => Record<string, string> = fieldsOf,
): Promise<Record<Name, Seen[]>> {
  const seen: Record<Name, Seen[]> = { alice: [], bruno: [] }
  const visit = async (name: Name): Promise<void> => {
    seen[name].push(await get(cached, path, fields(name)))
  }
  await Promise.all(NAMES.map(visit))
  for (const name of NAMES.toReversed()) await visit(name)
  return seen
}

async function expectOwnPages(path: string, fields?: (name: Name) => Record<string, string>): Promise<void> {
  for (const [name, pages] of Object.entries(await visits(path, fields)))
    for (const { body, fields: got } of pages) {
      const other = name === 'alice' ? 'bruno' : 'alice'
      expect(`${JSON.stringify(got)} ${body}`).not.toContain(other)
      expect(body).toContain(name)
    }
}

const WAYS = [
  'cookies-get',
  'cookies-all',
  'cookies-of-request-event',
  'cookie-field',
  'fields',
  'user-field',
  'locals-user',
  'locals-spread',
  'locals-session',
  'address',
  'platform',
  'fetch',
  'fetch-of-a-request',
  'fetch-of-a-cached-route',
  'fetch-of-a-field',
  'fetch-of-a-hook',
  'fetch-of-a-local',
  'fetch-of-an-address',
  'fetch-by-post',
  'handle-fetch',
]

describe('no user gets what names the other', () => {
  it.each(WAYS)('by %s in a load function', async (way) => {
    await expectOwnPages(`/leaks/${way}`)
  })

  it.each(WAYS)('by %s in the data of a page', async (way) => {
    await expectOwnPages(`/leaks/${way}/__data.json`)
  })

  it.each(WAYS)('by %s in an endpoint', async (way) => {
    await expectOwnPages(`/api/leaks/${way}`)
  })

  it('by a copy of its request, which has no personal fields', async () => {
    const known = (name: Name): Record<string, string> => ({ cookie: `user=${name}`, 'x-user-id': name })
    expect(JSON.stringify(await visits('/api/leaks/copied-request', known))).not.toMatch(/user=|x-user-id/)
  })

  it('by the field Authorization', async () => {
    await expectOwnPages('/leaks/authorization', (name) => ({ authorization: `Bearer ${name}` }))
  })

  it('by a page that a hook outside has changed', async () => {
    await expectOwnPages('/outer/outer-page')
  })

  it('by a field that a hook outside has set', async () => {
    const { alice, bruno } = await visits('/outer/outer-field')
    expect(alice.map(({ fields }) => fields['x-theme'])).toEqual(['alice', 'alice'])
    expect(bruno.map(({ fields }) => fields['x-theme'])).toEqual(['bruno', 'bruno'])
  })

  it('by a cookie that a hook outside has set', async () => {
    await get(cached, '/outer/outer-cookie')
    const { alice, bruno } = await visits('/outer/outer-cookie')
    expect(alice.map(({ fields }) => fields['set-cookie'])).toEqual(
      Array(2).fill(expect.stringContaining('seen=alice')),
    )
    expect(bruno.map(({ fields }) => fields['set-cookie'])).toEqual(
      Array(2).fill(expect.stringContaining('seen=bruno')),
    )
  })

  it('by a redirect that a hook inside has thrown', async () => {
    const users = [undefined, 'alice', undefined, 'bruno'] as const
    const all = await Promise.all(
      users.map((user) => get(cached, '/guarded', user === undefined ? {} : fieldsOf(user))),
    )
    expect(all.map(({ status }) => status)).toEqual([303, 200, 303, 200])
  })
})

describe('a hit is what the app alone responds', () => {
  it.each([
    ['a page', '/page?page=1', {}],
    ['the data of a page', '/page/__data.json?page=1', {}],
    ['the data of the invalidated parts of a page', '/page/__data.json?page=1&x-sveltekit-invalidated=01', {}],
    ['the data of no part of a page', '/page/__data.json?page=1&x-sveltekit-invalidated=00', {}],
    ['an endpoint', '/api/list', {}],
    ['a page that is an endpoint, too', '/both', { accept: 'text/html' }],
    ['an endpoint that is a page, too', '/both', { accept: 'application/json' }],
    ['a redirect', '/moved', {}],
    ['an error page', '/broken', {}],
    ['a page of a stream', '/streamed', {}],
    ['a declared lifetime', '/declared', {}],
  ])('%s', async (_name, path, headers) => {
    const miss = await get(cached, path, headers)
    const hit = await get(cached, path, headers)
    const alone = await get(bare, path, headers)
    expect(hit.cache).toMatch(/; hit/)
    // The cache gives each stored response a validator.
    const { etag: _, ...fields } = hit.fields
    const { etag: __, ...ofAlone } = alone.fields
    expect({ status: hit.status, fields, body: hit.body }).toEqual({
      status: alone.status,
      fields: ofAlone,
      body: alone.body,
    })
    expect(miss.body).toBe(alone.body)
  })

  it.each([
    ['the data of a page that is not found', '/broken/__data.json', {}],
    ['the data of a page that fails', '/broken/__data.json?status=500', {}],
    ['the data of a redirect', '/moved/__data.json', {}],
    ['a page without a lifetime', '/declared?silent', {}],
    ['a request that has a field of SvelteKit', '/both', { 'x-sveltekit-error': 'true' }],
  ])('but nothing is stored of %s', async (_name, path, headers: Record<string, string>) => {
    await get(cached, path, headers)
    expect((await get(cached, path, headers)).cache).not.toMatch(/; hit/)
  })
})

it('an error of an endpoint is stored for each way in which SvelteKit writes it', async () => {
  const kinds = ['application/json', 'text/html', 'application/json', 'text/html']
  const all: Seen[] = []
  for (const accept of kinds) all.push(await get(cached, '/api/missing', { accept }))
  expect(all.map(({ fields }) => fields['content-type']?.split(';')[0])).toEqual(kinds)
  expect(all[2]?.cache).toMatch(/; hit/)
})

describe('one load', () => {
  it('serves all who come at once', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => get(cached, '/counted')))
    expect(new Set(all.map(({ body }) => body))).toEqual(new Set(['run 1']))
  })

  it('is not what a POST gets', async () => {
    expect((await get(cached, '/counted', { origin: cached.origin }, { method: 'POST' })).body).toMatch(/^posted/)
  })

  it('of an endpoint serves the pages that fetch it', async () => {
    await get(cached, '/page?page=7')
    const runs = cached.output().split('reading the list').length
    const page = await get(cached, '/page?page=8', fieldsOf('alice'))
    expect(page.cache).toMatch(/; stored/)
    expect(cached.output().split('reading the list')).toHaveLength(runs)
  })

  it('shows the page no other parameter than those of the key', async () => {
    const strange = await get(cached, '/page?page=9&secret=1')
    expect([strange.body.includes('secret'), strange.cache.includes('stored')]).toEqual([false, false])
    await get(cached, '/page?page=10')
    const { body, cache } = await get(cached, '/page?secret=2&page=10')
    expect([body.includes('secret'), cache.includes('; hit')]).toEqual([false, true])
  })
})
