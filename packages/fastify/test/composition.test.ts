import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { describe, expect, test } from '@jest/globals'
import { cache, counter, withApp } from './support/cached-app.ts'

describe('hooks of Fastify beside the cache', () => {
  test('an onSend hook gets a text on a hit as on a miss', async () => {
    await withApp(async ({ app }) => {
      const types: string[] = []
      app.addHook('onSend', async (_request, _reply, payload) => {
        types.push(typeof payload)
        return payload
      })
      app.get('/page', { config: { cache } }, async () => 'a text')
      for (let turn = 0; turn < 2; turn += 1) await app.inject('/page')
      expect(types).toEqual(['string', 'string'])
    })
  })

  test.each([
    ['a text', 'ünï', 'string'],
    ['an object', { text: 'ünï' }, 'string'],
    ['bytes', Buffer.of(0xff), 'object'],
  ])('an onSend hook gets %s of the handler as on a miss also for HEAD', async (_what, payload, type) => {
    await withApp(async ({ app }) => {
      const types: string[] = []
      app.addHook('onSend', async (_request, _reply, sent) => {
        types.push(typeof sent)
        return sent
      })
      app.get('/page', { config: { cache } }, async () => payload)
      const missed = await app.inject('/page')
      const hit = await app.inject('/page')
      const head = await app.inject({ method: 'HEAD', url: '/page' })
      expect(types).toEqual([type, type, type])
      expect(hit.rawPayload).toEqual(missed.rawPayload)
      const { 'content-length': length, 'content-type': contentType } = missed.headers
      for (const { headers } of [hit, head])
        expect(headers).toMatchObject({ 'content-length': length, 'content-type': contentType })
      expect(head.body).toBe('')
    })
  })

  test('an onSend hook that changes a text changes it on a hit, for a HEAD and in the place of a failure', async () => {
    await withApp(async ({ app, runtime }) => {
      let broken = false
      app.addHook('onSend', async (_request, _reply, payload: string) => payload.replace('</p>', '!</p>'))
      app.get('/page', { config: { cache: { ...cache, staleIfError: '1h' } } }, async () => {
        if (broken) throw new Error('no database')
        return '<p>text</p>'
      })
      const changed = { statusCode: 200, body: '<p>text!</p>', headers: { 'content-length': '12' } }
      for (let turn = 0; turn < 2; turn += 1) expect(await app.inject('/page')).toMatchObject(changed)
      expect(await app.inject({ method: 'HEAD', url: '/page' })).toMatchObject({ ...changed, body: '' })
      broken = true
      await runtime.advance(11_000)
      expect(await app.inject('/page')).toMatchObject(changed)
    })
  })

  test('a field that a hook registered before the plugin sets for one user goes to nobody else', async () => {
    await withApp(
      async ({ app }) => {
        app.get('/page', { config: { cache } }, async () => 'one')
        await app.inject({ url: '/page', headers: { 'x-user': 'admin' } })
        expect((await app.inject('/page')).headers['x-user-id']).toBeUndefined()
      },
      {
        early: (app) => {
          app.addHook('onSend', async (request, reply) => {
            const { 'x-user': user } = request.headers
            if (user !== undefined) reply.header('x-user-id', user)
          })
        },
      },
    )
  })

  test('what a hook registered before the plugin writes into the body for one user goes to nobody else', async () => {
    await withApp(
      async ({ app }) => {
        app.get('/page', { config: { cache } }, async () => 'hello')
        for (const user of ['ann', 'bob'])
          expect((await app.inject({ url: '/page', headers: { 'x-user': user } })).body).toBe(`hello ${user}`)
      },
      {
        early: (app) => {
          app.addHook(
            'onSend',
            async ({ headers }, _reply, payload: string) => `${payload} ${String(headers['x-user'])}`,
          )
        },
      },
    )
  })

  test('a refresh of a URL that rewriteUrl maps by User-Agent leaves the phone’s page as it is', async () => {
    const rewriteUrl = ({ url = '/', headers }: { url?: string | undefined; headers: object }): string =>
      Reflect.get(headers, 'user-agent') === 'a phone' ? `/phone${url}` : url
    await withApp(
      async ({ app }) => {
        for (const [url, text] of [
          ['/page', 'for desktops'],
          ['/phone/page', 'for phones'],
        ] as const)
          app.get(url, { config: { cache } }, async () => text)
        const phone = { 'user-agent': 'a phone' }
        await app.inject({ method: 'HEAD', url: '/page', headers: phone })
        expect((await app.inject({ url: '/page', headers: phone })).body).toBe('for phones')
      },
      { server: { rewriteUrl } },
    )
  })
})

describe('parameters that do not count', () => {
  test.each([
    ['are unreadable', '/page?utm=evil&by=name&page=2'],
    ['and their order, where all are listed, are unreadable', '/page?page=2&by=name'],
  ])('%s in raw.originalUrl, raw.query and raw._parsedUrl, which middie sets', async (_, target) => {
    await withApp(async ({ app }) => {
      app.addHook('onRequest', async ({ raw, query }) => {
        const { url: href = '' } = raw
        const [, text = ''] = href.split('?')
        Object.assign(raw, { originalUrl: href, query, _parsedUrl: { href, search: `?${text}`, query: text } })
      })
      app.get('/page', { config: { cache: { ...cache, query: ['page', 'by'] } } }, async ({ raw }) =>
        ['originalUrl', 'query', '_parsedUrl'].map((name): unknown => Reflect.get(raw, name)),
      )
      const [originalUrl, query, parsed] = (await app.inject(target)).json() as unknown[]
      expect([originalUrl, Object.entries(query as object)]).toEqual([
        '/page?by=name&page=2',
        [
          ['by', 'name'],
          ['page', '2'],
        ],
      ])
      expect(parsed).toMatchObject({ href: originalUrl, search: '?by=name&page=2', query: 'by=name&page=2' })
    })
  })

  test('keep the defaults of the route’s schema', async () => {
    await withApp(async ({ app }) => {
      const querystring = {
        type: 'object',
        properties: { page: { type: 'integer' }, size: { type: 'integer', default: 20 } },
      }
      const config = { cache: { ...cache, query: ['page'] } }
      app.get('/page', { schema: { querystring }, config }, async ({ query }) => query)
      expect((await app.inject('/page?page=2')).json()).toEqual({ page: 2, size: 20 })
      expect((await app.inject('/page?page=3&size=7')).json()).toEqual({ page: 3, size: 20 })
    })
  })

  test('keep the defaults that another validator than Fastify’s own gives', async () => {
    await withApp(async ({ app }) => {
      const config = { cache: { ...cache, query: ['page'] } }
      const validatorCompiler = () => (query: object) => ({ value: { size: 20, page: 1, ...query } })
      const options = { schema: { querystring: {} }, config, validatorCompiler }
      app.get('/page', options, async ({ query }) => query)
      expect((await app.inject('/page?page=2&size=7')).json()).toEqual({ page: '2', size: 20 })
    })
  })
})

describe('a validator that changes the query', () => {
  const querystring = { type: 'object', properties: { page: { type: 'integer' }, size: { type: 'integer' } } }
  const routes: readonly (readonly [string, Partial<RouteShorthandOptions>])[] = [
    [
      'renames a parameter',
      {
        schema: { querystring: {} },
        validatorCompiler: () => (query: Readonly<Record<string, string>>) => ({
          value: { page: query['page'] ?? '1', size: query['page_size'] ?? '20' },
        }),
      },
    ],
    [
      'gives a listed name to what an unlisted parameter says',
      {
        schema: { querystring: {} },
        validatorCompiler: () => (query: Readonly<Record<string, string>>) => ({ value: { page: query['p'] ?? '1' } }),
      },
    ],
    ['removes what it does not know, and makes numbers', { schema: { querystring } }],
  ]

  test.each(routes)('(%s) sees the query of the key alone', async (_, options) => {
    await withApp(async ({ app }) => {
      const config = { cache: { ...cache, query: ['page'] } }
      app.get('/page', { ...options, config }, async ({ query }) => query)
      app.get('/bare', options, async ({ query }) => query)
      await app.inject('/page?page=2&page_size=7&p=666&size=9')
      expect((await app.inject('/page?page=2')).json()).toEqual((await app.inject('/bare?page=2')).json())
    })
  })

  test('after the request was validated, as a hook may, changes that of the key', async () => {
    await withApp(async ({ app }) => {
      app.addHook('preHandler', async (request) => {
        request.query = { page: Reflect.get(request.query as object, 'p') ?? 1 }
      })
      app.get('/page', { config: { cache: { ...cache, query: ['page', 'by'] } } }, async ({ query }) => query)
      for (const target of ['/page?p=2', '/page?page=2&p=2', '/page?page=2&by=name'])
        expect((await app.inject(target)).json()).toEqual({ page: 1 })
    })
  })
})

describe('a handler of Fastify that looks at who asks', () => {
  test.each(['user', 'session', 'cookies'])(
    '(request.%s) has its response kept for its own client',
    async (property) => {
      await withApp(async ({ app, bodies }) => {
        const origin = counter()
        app.addHook('onRequest', async (request) => void Object.assign(request, { [property]: { name: 'ann' } }))
        app.get(
          '/me',
          { config: { cache } },
          async (request) => `${JSON.stringify(Reflect.get(request, property))} ${origin.next()}`,
        )
        await bodies('/me', 2)
        expect(origin.runs).toBe(2)
      })
    },
  )

  const user = { role: 'admin' }
  const roleOf = (request: object): string => (Reflect.get(request, 'user') as typeof user).role

  test('(by a role filter in preSerialization) has its response kept for its own client', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.addHook('onRequest', async (request) => void Object.assign(request, { user }))
      app.addHook('preSerialization', async (request, _reply, payload) => ({
        ...(payload as object),
        role: roleOf(request),
      }))
      app.get('/me', { config: { cache } }, async () => ({ run: origin.next() }))
      await bodies('/me', 2)
      expect(origin.runs).toBe(2)
    })
  })

  test('(while it streams its response) has its response kept for its own client', async () => {
    await withApp(async ({ app, bodies }) => {
      const origin = counter()
      app.addHook('onRequest', async (request) => void Object.assign(request, { user }))
      app.get('/me', { config: { cache } }, (request, reply) => {
        const page = async function* (): AsyncGenerator<string> {
          yield `${origin.next()} `
          await setImmediate()
          yield roleOf(request)
        }
        return reply.send(Readable.from(page()))
      })
      await bodies('/me', 2)
      expect(origin.runs).toBe(2)
    })
  })

  test.each(['before', 'after'])(
    '(only in an onSend hook registered %s the plugin) has its response stored',
    async (place) => {
      const origin = counter()
      const install = (app: FastifyInstance): void => {
        app.addHook('onRequest', async (request) => void Object.assign(request, { user }))
        app.addHook('onSend', async (request, reply) => void reply.header('x-role', roleOf(request)))
      }
      await withApp(
        async ({ app, bodies }) => {
          if (place === 'after') install(app)
          app.get('/text', { config: { cache } }, async () => origin.next())
          app.get('/json', { config: { cache } }, async () => ({ run: origin.next() }))
          await bodies('/text', 2)
          await bodies('/json', 2)
          expect(origin.runs).toBe(2)
        },
        place === 'before' ? { early: install } : {},
      )
    },
  )
})
