import { describe, expect, test } from '@jest/globals'
import { type Ask, CLEAN, verdict } from './raw-client.ts'
import { mirror, type Page, plain, type Seen } from './shop.ts'
import { FRAMEWORKS, onStage } from './stage.ts'

const cache = { ttl: '1m' } as const
/** Names that a map which is a plain object has already. */
const INBORN = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']

describe.each(FRAMEWORKS)('awkward names on %s', (framework) => {
  test.each(INBORN)('%s as a parameter, a field, a cookie and a tag is a name like any other', async (name) => {
    const keyed = {
      ...cache,
      key: { headers: [name], cookies: [name] },
      query: [name],
      tags: [name],
      tagHeader: 'x-tags',
    }
    const page: Page = {
      path: '/page',
      cache: keyed,
      handle: ({ headers, query }, run) => ({
        headers: { 'x-tags': `${name} a` },
        body: `run ${run} ${String(headers.cookie)} ${JSON.stringify(query)}`,
      }),
    }
    await onStage(framework, [page], async (stage) => {
      const attack: Ask = {
        target: `/page?${name}=evil&${name}[evil]=evil`,
        fields: [
          [name, 'evil'],
          ['Cookie', `${name}=evil`],
        ],
      }
      for (const _ of [1, 2]) expect((await stage.ask(attack)).body).toMatch(/^run 1 /)
      for (const _ of [1, 2]) {
        const victim = await stage.get('/page')
        expect([verdict(victim), victim.body.slice(0, 6)]).toEqual([CLEAN, 'run 2 '])
      }
      await stage.cache.invalidateTags([name])
      expect((await stage.get('/page')).body).toMatch(/^run 3 /)
      expect(Object.keys(Object.prototype)).toEqual([])
      expect(Reflect.get({}, 'evil')).toBeUndefined()
    })
  })

  test.each(['constructor', '__proto__', 'toString'])(
    'an answer that varies by %s is kept, and repeated',
    async (name) => {
      const handle: Page['handle'] = (_, run) => ({ headers: { vary: name }, body: `run ${run}` })
      await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
        for (const _ of [1, 2, 3]) expect((await stage.get('/page')).body).toBe('run 1')
        expect((await stage.ask({ target: '/page', fields: [['constructor', 'evil']] })).status).toBe(200)
      })
    },
  )

  test.each(['a', 'very many'])('%s cookies of other names beside the keyed one make no difference', async (many) => {
    const keyed = { ...cache, key: { cookies: ['theme'] } }
    const handle: Page['handle'] = plain
    await onStage(framework, [{ path: '/page', cache: keyed, handle }], async (stage) => {
      const others = Array.from({ length: many === 'a' ? 1 : 1500 }, (_, index) => `c${index}=e`).join('; ')
      const first = await stage.ask({ target: '/page', fields: [['Cookie', `${others}; theme=dark`]] })
      const next = await stage.ask({
        target: '/page',
        fields: [
          ['Cookie', 'theme=dark'],
          ['Cookie', others],
        ],
      })
      expect([first.status, next.body]).toEqual([200, first.body])
    })
  })

  test('what a client says of tags, ages and caches is nobody’s business', async () => {
    const handle: Page['handle'] = () => ({ headers: { 'x-tags': 'page' }, body: 'page' })
    const page = { path: '/page', cache: { ...cache, tagHeader: 'x-tags', cacheStatus: true }, handle }
    await onStage(framework, [page], async (stage) => {
      const fields = [
        'X-Tags',
        'Surrogate-Key',
        'Cache-Tag',
        'Age',
        'Via',
        'Cache-Status',
        'Warning',
        'Date',
        'ETag',
        'Vary',
        'Expires',
        'Surrogate-Control',
        'CDN-Cache-Control',
        'Set-Cookie',
      ]
      await stage.ask({ target: '/page', fields: fields.map((name) => [name, 'evil'] as const) })
      await stage.cache.invalidateTags(['evil'])
      const victim = await stage.get('/page')
      expect([verdict(victim), victim.fields['age'], victim.fields['cache-status']]).toEqual([
        CLEAN,
        ['0'],
        ['cattlegrid; hit; ttl=60'],
      ])
      expect(stage.count('load')).toBe(1)
    })
  })

  test.each(['constructor', '__proto__', 'https, evil', 'javascript'])(
    'a forwarded scheme %j makes a separate entry at most',
    async (scheme) => {
      const page = { path: '/page', cache, handle: mirror }
      await onStage(
        framework,
        [page],
        async (stage) => {
          expect((await stage.ask({ target: '/page', fields: [['X-Forwarded-Proto', scheme]] })).status).toBe(200)
          const { body } = await stage.get('/page')
          expect(body).toContain('"scheme":"http"')
          expect(body).not.toContain(scheme)
        },
        { trust: true },
      )
    },
  )
})

describe.each(FRAMEWORKS)('the purge endpoint on %s', (framework) => {
  const page: Page = { path: '/page', cache: { ...cache, tags: ['page'] }, handle: plain }
  const asked: readonly Ask[] = [
    { method: 'POST', target: '/purge?tag=page' },
    { method: 'DELETE', target: '/purge?tag=page' },
    { method: 'GET', target: '/purge?tag=page', fields: [['X-HTTP-Method-Override', 'POST']] },
    { method: 'POST', target: '/purge?tag=page&authorize=true', fields: [['Authorization', 'Bearer evil']] },
    { method: 'POST', target: 'http://localhost/purge?tag=page', fields: [['X-Forwarded-For', '127.0.0.1']] },
  ]

  test.each<readonly [string, object]>([
    ['without a word on who may use it', {}],
    ['for who is not let in', { authorize: ({ headers }: Seen) => headers.authorization === 'Bearer secret' }],
    ['whose authorize answers something that is true enough', { authorize: () => 'yes' }],
    ['whose authorize fails', { authorize: () => Promise.reject(new Error('a bug')) }],
  ])('%s purges nothing', async (_, purge) => {
    await onStage(
      framework,
      [page],
      async (stage) => {
        await stage.get('/page')
        for (const request of asked)
          expect([403, 404, 405]).toContain(
            (await stage.ask({ ...request, fields: [...(request.fields ?? []), ['Content-Length', '0']] })).status,
          )
        expect((await stage.get('/page')).body).toBe('run 1')
      },
      { purge },
    )
  })

  test('PURGE, DELETE and other methods of a stranger at the page itself change nothing', async () => {
    await onStage(framework, [{ ...page, cache: { ...cache, invalidateOnUnsafe: true } }], async (stage) => {
      await stage.get('/page')
      for (const method of ['PURGE', 'DELETE', 'PUT', 'PATCH', 'POST', 'OPTIONS', 'PROPFIND'])
        await stage.ask({ method, target: '/page', fields: [['Content-Length', '0']] })
      expect((await stage.get('/page')).body).toBe('run 1')
    })
  })
})
