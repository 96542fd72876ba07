import { createCache } from '@cattlegrid/core'
import { describe, expect, it } from '@jest/globals'
import { basicAuth, defineHandler, getCookie, getQuery, H3, type H3Event, parseCookies, toRequest } from 'h3'
import { cachedEventHandler, type CachedEventHandlerOptions } from '../src/h3.ts'
import { expectNoLeak, fieldsOf, lateStream, type Name } from './support/users.ts'

const PAGE = 'http://shop.test/page'

/** Made as a server makes it, with its own objects of the client. */
function requestOf(name: Name): Request {
  const headers = fieldsOf(name)
  const runtime = { name: 'node', node: { req: { headers }, res: {} } }
  return Object.assign(new Request(PAGE, { headers }), { runtime, user: name })
}

type See = (event: H3Event) => unknown

/** An app with a middleware outside that knows the user. */
function appOf(handler: See, options: Omit<CachedEventHandlerOptions, 'cache'> = {}): H3 {
  const app = new H3({ silent: true })
  app.use((event) => {
    const name = getCookie(event, 'user') ?? 'nobody'
    Object.assign(event.context, { user: name, session: { name }, clientAddress: name, sessions: { h3: { name } } })
    event.context.basicAuth = { username: name, realm: 'shop' }
  })
  return app.get('/page', cachedEventHandler(handler, { cache: createCache(), ttl: '30s', ...options }))
}

const WAYS: readonly (readonly [string, See])[] = [
  ["event.req.headers.get('cookie')", (event) => event.req.headers.get('cookie')],
  ['all fields', ({ req }) => [...req.headers]],
  ["event.req.headers.get('x-user-id')", (event) => event.req.headers.get('x-user-id')],
  ['getCookie', (event) => getCookie(event, 'user')],
  ['parseCookies', (event) => parseCookies(event)],
  ['event.context.user', ({ context }) => context['user']],
  ['event.context.session', ({ context: { session } }) => session],
  ['event.context.sessions', ({ context }) => context.sessions],
  ['event.context.clientAddress', ({ context }) => context.clientAddress],
  ['event.context.basicAuth', ({ context }) => context.basicAuth?.username],
  ['a spread context', ({ context }) => ({ ...context })],
  ['Object.entries(event.context)', ({ context }) => Object.entries(context)],
  ['event.req.context', ({ req }) => req.context?.['user']],
  ['event.req.user', ({ req }) => Reflect.get(req, 'user')],
  ['event.runtime', ({ runtime }) => runtime?.node?.req.headers],
  ['event.req.runtime', ({ req }) => req.runtime?.node?.req.headers],
  ['event.req.clone()', ({ req }) => req.clone().headers.get('cookie')],
  ['new Request(event.req)', ({ req }) => [...new Request(req).headers]],
  ['toRequest(event.req)', ({ req }) => [...toRequest(req).headers]],
]

const text = async (see: See, event: H3Event): Promise<string> => JSON.stringify((await see(event)) ?? null)

describe('in h3 no page of one user reaches the other', () => {
  it.each(WAYS)('by %s', async (_name, see) => {
    const app = appOf(async (event) => ({ seen: await text(see, event) }))
    await expectNoLeak((request) => app.fetch(request), requestOf)
  })

  it.each(WAYS)('by %s in a stream that has begun', async (_name, see) => {
    const app = appOf(async (event) => {
      const seen: string[] = []
      return lateStream(
        () => 'page ',
        () => {
          void text(see, event).then((one) => seen.push(one))
          return '.'
        },
        () => seen.join(''),
      )
    })
    await expectNoLeak((request) => app.fetch(request), requestOf)
  })

  it('by the URL and the parameters of an unkeyed query', async () => {
    const app = appOf((event) => [event.url.href, event.req.url, getQuery(event), String(event)], {
      query: ['page'],
    })
    await expectNoLeak(
      (request) => app.fetch(request),
      (name) => {
        const url = `${PAGE}?page=1&user=${name}`
        return Object.assign(new Request(url), { _url: new URL(url) })
      },
    )
  })

  it('by an authentication inside', async () => {
    const app = new H3({ silent: true })
    const login = basicAuth({ validate: () => true })
    const handler = defineHandler({ middleware: [login], handler: ({ context }) => context.basicAuth?.username })
    app.get('/page', cachedEventHandler(handler, { cache: createCache(), ttl: '30s' }))
    await expectNoLeak(
      (request) => app.fetch(request),
      (name) => new Request(PAGE, { headers: { authorization: `Basic ${btoa(`${name}:secret`)}` } }),
    )
  })

  it('by fields that a middleware outside sets for each', async () => {
    const app = new H3({ silent: true })
    app.use((event) => {
      event.res.headers.set('x-seen-by', getCookie(event, 'user') ?? 'nobody')
      event.res.headers.append('set-cookie', `seen=${getCookie(event, 'user')}`)
    })
    app.get(
      '/page',
      cachedEventHandler(() => 'page', { cache: createCache(), ttl: '30s' }),
    )
    for (const name of ['alice', 'bruno', 'alice'] as const) {
      const { headers } = await app.fetch(requestOf(name))
      expect([headers.get('x-seen-by'), headers.getSetCookie()]).toEqual([name, [`seen=${name}`]])
    }
  })

  it('although the page of nobody in particular is shared', async () => {
    let runs = 0
    const app = appOf(() => `run ${(runs += 1)}`)
    const pages = await expectNoLeak((request) => app.fetch(request), requestOf)
    expect(new Set(pages)).toEqual(new Set(['run 1']))
  })
})
