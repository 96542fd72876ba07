import { createCache } from '@cattlegrid/core'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type CachedHandle, cachedHandle, type SvelteKitEvent } from '../src/sveltekit.ts'

const PAGE = 'http://shop.test/page'

/** An event as SvelteKit makes it, of the parts that the cache needs. */
function eventOf(url = PAGE, given: Partial<SvelteKitEvent> & { cookie?: string } = {}): SvelteKitEvent {
  const { cookie, ...parts } = given
  const request = new Request(url, cookie === undefined ? {} : { headers: { cookie } })
  const all = (cookie ?? '').split('; ').filter((pair) => pair !== '')
  const named = all.map((pair) => ({ name: pair.split('=')[0] ?? '', value: pair.split('=')[1] ?? '' }))
  return {
    request,
    url: new URL(url),
    params: {},
    route: { id: '/page' },
    cookies: {
      get: (name) => named.find((one) => one.name === name)?.value,
      getAll: ({ decode = (value: string) => value } = {}) =>
        named.map(({ name, value }) => ({ name, value: decode(value) })),
    },
    locals: {},
    isDataRequest: false,
    isSubRequest: false,
    fetch: () => Promise.reject(new Error('not in this test')),
    setHeaders: () => undefined,
    getClientAddress: () => '127.0.0.1',
    ...parts,
  }
}

/** Counts the runs of what lies behind the cache. */
function behind(handle: CachedHandle, page: (event: SvelteKitEvent) => Response | Promise<Response>) {
  let runs = 0
  const get = async (event: SvelteKitEvent): Promise<string> => {
    const resolve = (shown: SvelteKitEvent): Response | Promise<Response> => {
      runs += 1
      return page(shown)
    }
    return await (await handle({ event, resolve })).text()
  }
  return { get, runs: () => runs }
}

const hour = (): CachedHandle => cachedHandle({ cache: createCache(), routes: { '/page': { ttl: '1h' } } })

afterEach(() => {
  delete process.env['SVELTEKIT_FORK']
})

describe('cachedHandle', () => {
  it('refuses a ttl without routes, as it would store every page of an app', () => {
    expect(() => cachedHandle({ cache: createCache(), ttl: '30s' })).toThrow(/ttl of routes/)
  })

  it('gives the ttl beside routes to those that have none', async () => {
    const handle = cachedHandle({ cache: createCache(), ttl: '1h', routes: { '/page': {} } })
    const { get, runs } = behind(handle, () => new Response('page'))
    for (const id of ['/page', '/page', '/other', '/other', null]) await get(eventOf(`${PAGE}${id}`, { route: { id } }))
    expect(runs()).toBe(4)
  })

  it('passes the requests of a build', async () => {
    const { get, runs } = behind(hour(), () => new Response('page'))
    const prerendered = 'http://sveltekit-prerender/page'
    for (const url of [prerendered, prerendered]) await get(eventOf(url))
    process.env['SVELTEKIT_FORK'] = 'true'
    for (const url of [PAGE, PAGE]) await get(eventOf(url))
    expect(runs()).toBe(4)
  })

  it('passes remote functions', async () => {
    const { get, runs } = behind(hour(), () => new Response('page'))
    for (let turn = 0; turn < 2; turn += 1) await get(eventOf(PAGE, { isRemoteRequest: true }))
    expect(runs()).toBe(2)
  })

  it('tells a request of the app to itself from that of a client', async () => {
    const { get, runs } = behind(hour(), ({ isSubRequest }) => new Response(String(isSubRequest)))
    expect([await get(eventOf(PAGE, { isSubRequest: true })), await get(eventOf()), runs()]).toEqual([
      'true',
      'false',
      2,
    ])
  })

  it('stores no page that reads a user who is absent', async () => {
    const { get } = behind(hour(), ({ locals }) => new Response(String(Reflect.get(locals, 'user'))))
    expect([await get(eventOf()), await get(eventOf(PAGE, { locals: { user: 'ann' } }))]).toEqual(['undefined', 'ann'])
  })

  it('stores no page where it cannot watch the user', async () => {
    const { get } = behind(hour(), ({ locals }) => new Response(String(Reflect.get(locals, 'user'))))
    const frozen = (user: string): SvelteKitEvent => eventOf(PAGE, { locals: Object.freeze({ user }) })
    expect([await get(frozen('ann')), await get(frozen('bob'))]).toEqual(['ann', 'bob'])
  })

  it('leaves the locals and the cookies as they were', async () => {
    const { get } = behind(hour(), () => new Response('page'))
    const event = eventOf(PAGE, { locals: { user: 'ann' } })
    const { cookies, locals } = event
    const before = [{ ...cookies }, Object.getOwnPropertyDescriptors(locals)]
    await get(event)
    expect([{ ...cookies }, Object.getOwnPropertyDescriptors(locals)]).toEqual(before)
  })

  it('stores no page that declares its lifetime, and reads a cookie', async () => {
    const handle = cachedHandle({ cache: createCache() })
    const headers = { 'cache-control': 'public, max-age=60' }
    const { get } = behind(handle, ({ cookies }) => new Response(cookies.get('user') ?? 'nobody', { headers }))
    const cookie = { cookie: 'user=ann' }
    expect([await get(eventOf()), await get(eventOf(PAGE, cookie)), await get(eventOf())]).toEqual([
      'nobody',
      'ann',
      'nobody',
    ])
  })

  it('stores a page for each value of a cookie in its key', async () => {
    const routes = { '/page': { ttl: '1h', key: { cookies: ['theme'] } } } as const
    const { get, runs } = behind(cachedHandle({ cache: createCache(), routes }), ({ cookies }) => {
      return new Response(cookies.get('theme') ?? 'light')
    })
    const dark = { cookie: 'theme=dark' }
    const pages = [
      await get(eventOf()),
      await get(eventOf(PAGE, dark)),
      await get(eventOf()),
      await get(eventOf(PAGE, dark)),
    ]
    expect([pages, runs()]).toEqual([['light', 'dark', 'light', 'dark'], 2])
  })

  it('gives the functions among its options the event', async () => {
    const routes = {
      '/page': { ttl: '1h', key: { extra: ({ locals }: SvelteKitEvent) => String(Reflect.get(locals, 'shop')) } },
    } as const
    const { get, runs } = behind(cachedHandle({ cache: createCache(), routes }), ({ locals }) => {
      return new Response(String(Reflect.get(locals, 'shop')))
    })
    const inShop = (shop: string): SvelteKitEvent => eventOf(PAGE, { locals: { shop } })
    expect([await get(inShop('a')), await get(inShop('b')), await get(inShop('a')), runs()]).toEqual(['a', 'b', 'a', 2])
  })

  it('throws on what a hook behind it has thrown', async () => {
    const { get } = behind(hour(), () => {
      throw Object.assign(new Error('see other'), { status: 303, location: '/login' })
    })
    await expect(get(eventOf())).rejects.toMatchObject({ status: 303, location: '/login' })
  })

  it('refuses an option that it does not know', () => {
    expect(() => cachedHandle({ cache: createCache(), phase: 'onRequest', refres: 'x' } as never)).toThrow(/refres/)
  })
})
