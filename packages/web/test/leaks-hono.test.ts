import { createCache } from '@cattlegrid/core'
import { describe, expect, it } from '@jest/globals'
import { type Context, Hono } from 'hono'
import { getCookie, getSignedCookie } from 'hono/cookie'
import { stream, streamSSE, streamText } from 'hono/streaming'
import { honoCache, type HonoRouteOptions } from '../src/hono.ts'
import { gate } from './support/gate.ts'
import { expectNoLeak, fieldsOf, type Name } from './support/users.ts'

interface Variables {
  user: string
  session: { name: string }
  jwtPayload: { sub: string }
}
type App = Hono<{ Variables: Variables }>
type AppContext = Context<{ Variables: Variables }>

const PAGE = 'http://shop.test/page'
const requestOf = (name: Name): Request => new Request(PAGE, { headers: fieldsOf(name) })

/** An app with a middleware outside that knows the user. */
function appOf(handler: (c: AppContext) => Response | Promise<Response>, options: HonoRouteOptions = {}): App {
  const app: App = new Hono()
  const cached = honoCache<{ Variables: Variables }>(createCache(), { app: () => app })
  app.use(async (c, next) => {
    const name = getCookie(c, 'user') ?? 'nobody'
    c.set('user', name)
    c.set('session', { name })
    c.set('jwtPayload', { sub: name })
    Object.assign(c.req.raw, { user: name })
    await next()
  })
  return app.get('/page', cached({ ttl: '30s', ...(options as object) }), handler)
}

type See = (c: AppContext) => unknown

const WAYS: readonly (readonly [string, See])[] = [
  ["c.get('user')", (c) => c.get('user')],
  ['a get of its own', ({ get }) => get('session')],
  ['c.var.user', (c) => c.var.user],
  ['a part of c.var', ({ var: { session } }) => session],
  ['a spread c.var', (c) => ({ ...c.var })],
  ['Object.entries(c.var)', (c) => Object.entries(c.var)],
  ["c.get('jwtPayload')", (c) => c.get('jwtPayload')],
  ['c.var.jwtPayload', (c) => c.var.jwtPayload.sub],
  ["c.req.header('cookie')", (c) => c.req.header('cookie')],
  ["c.req.header('Cookie')", (c) => c.req.header('Cookie')],
  ['c.req.header()', (c) => c.req.header()],
  ["c.req.header('x-user-id')", (c) => c.req.header('x-user-id')],
  ['getCookie', (c) => getCookie(c, 'user')],
  ['all cookies', (c) => getCookie(c)],
  ['getSignedCookie', async (c) => [await getSignedCookie(c, 'secret', 'user'), c.req.header('cookie')]],
  ['c.req.raw.headers', (c) => [...c.req.raw.headers]],
  ['c.req.raw.clone()', (c) => c.req.raw.clone().headers.get('cookie')],
  ['c.req.raw.user', (c) => Reflect.get(c.req.raw, 'user')],
  ['new Request(c.req.raw)', (c) => [...new Request(c.req.raw).headers]],
  ['new Request() with another URL', (c) => [...new Request('http://origin.test/', c.req.raw).headers]],
]

const text = async (see: See, c: AppContext): Promise<string> => JSON.stringify((await see(c)) ?? null)
const late = async (): Promise<void> => {
  const { passed, open } = gate()
  setImmediate(() => setImmediate(open))
  await passed
}

describe('in Hono no page of one user reaches the other', () => {
  it.each(WAYS)('by %s', async (_name, see) => {
    const app = appOf(async (c) => c.text(await text(see, c)))
    await expectNoLeak((request) => app.fetch(request), requestOf)
  })

  it.each(WAYS)('by %s in a middleware inside', async (_name, see) => {
    const app: App = new Hono()
    const cached = honoCache<{ Variables: Variables }>(createCache(), { app: () => app })
    app.use(async (c, next) => {
      c.set('user', getCookie(c, 'user') ?? 'nobody')
      c.set('session', { name: c.get('user') })
      c.set('jwtPayload', { sub: c.get('user') })
      await next()
    })
    app.use(cached({ ttl: '30s' }))
    app.use(async (c, next) => {
      await next()
      c.res = new Response(await text(see, c), c.res)
    })
    app.get('/page', (c) => c.text('page'))
    await expectNoLeak((request) => app.fetch(request), requestOf)
  })

  it.each(WAYS)('by %s in a stream that has begun', async (_name, see) => {
    const app = appOf((c) =>
      streamText(c, async (writer) => {
        await writer.write('page ')
        await late()
        await writer.write(await text(see, c))
      }),
    )
    await expectNoLeak((request) => app.fetch(request), requestOf)
  })

  it.each(WAYS)('by %s in a stream that has not begun', async (_name, see) => {
    const app = appOf((c) =>
      stream(c, async (writer) => {
        await late()
        await writer.write(await text(see, c))
      }),
    )
    await expectNoLeak((request) => app.fetch(request), requestOf)
  })

  it.each(WAYS)('by %s of a place inside that allows it', async (_name, see) => {
    const app: App = new Hono()
    const cached = honoCache<{ Variables: Variables }>(createCache(), { app: () => app })
    const allowReads = ['user', 'session', 'cookie', 'x-user-id']
    const inner = appOf(async (c) => c.text(await text(see, c)), { allowReads, key: { headers: ['x-user-id'] } })
    app.use(cached({ ttl: '30s' }))
    app.route('/', inner)
    await expectNoLeak((request) => app.fetch(request), requestOf)
  })

  it('by an event stream', async () => {
    const app = appOf((c) =>
      streamSSE(c, async (writer) => {
        await late()
        await writer.writeSSE({ data: c.get('user') })
      }),
    )
    await expectNoLeak((request) => app.fetch(request), requestOf)
  })

  it('by the URL and the parameters of an unkeyed query', async () => {
    const app = appOf((c) => c.json([c.req.url, c.req.query(), c.req.queries(), c.req.raw.url]), { query: ['page'] })
    await expectNoLeak(
      (request) => app.fetch(request),
      (name) => new Request(`${PAGE}?page=1&user=${name}`),
    )
  })

  it('although the page of nobody in particular is shared', async () => {
    let runs = 0
    const app = appOf((c) => c.text(`run ${(runs += 1)}`))
    const pages = await expectNoLeak((request) => app.fetch(request), requestOf)
    expect(new Set(pages)).toEqual(new Set(['run 1']))
  })

  it('although a logger outside reads the user afterwards', async () => {
    const users: string[] = []
    const app: App = new Hono()
    const cached = honoCache<{ Variables: Variables }>(createCache(), { app: () => app })
    app.use(async (c, next) => {
      c.set('user', getCookie(c, 'user') ?? 'nobody')
      await next()
      users.push(c.get('user'), getCookie(c, 'user') ?? '')
    })
    app.get('/page', cached({ ttl: '30s' }), (c) => c.text('page'))
    const pages = await expectNoLeak((request) => app.fetch(request), requestOf)
    expect(new Set(pages)).toEqual(new Set(['page']))
    expect(users.toSorted()).toEqual([...Array<string>(4).fill('alice'), ...Array<string>(4).fill('bruno')])
  })
})
