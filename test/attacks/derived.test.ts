import { describe, expect, test } from '@jest/globals'
import { replaced } from '../fuzz/echo-apps.ts'
import { ask as askRaw } from './raw-client.ts'
import { mirror, type ShopOptions } from './shop.ts'
import { FRAMEWORKS, onStage } from './stage.ts'

/** Express has no text where there is no query. */
type Parser = (text: string | undefined | null) => Record<string, unknown>

/** Parameters of one name in any case are one; the last one counts. */
const folding: Parser = (text) =>
  Object.fromEntries([...new URLSearchParams(text ?? '')].map(([name, value]) => [name.toLowerCase(), value]))
/** A semicolon separates, too. */
const splitting: Parser = (text) => Object.fromEntries(new URLSearchParams(text?.replaceAll(';', '&')))
/** Reads three parameters, and no more. */
const limited: Parser = (text) => Object.fromEntries([...new URLSearchParams(text ?? '')].slice(0, 3))

const parsedBy = (parse: Parser): Partial<ShopOptions> => ({
  prepare: (app) => app.set('query parser', parse),
  parseQuery: parse,
})

const many = 'x&'.repeat(1000)

describe.each(FRAMEWORKS)('parsed queries on %s', (framework) => {
  test.each<readonly [string, string, Partial<ShopOptions>]>([
    ['that 1,000 parameters come before', `${many}page=2`, {}],
    ['that 1,000 parameters come before, which a layer outside has parsed', `${many}page=2`, { prepare: replaced }],
    ['behind the limit of its parser', 'a&b&c&page=2', parsedBy(limited)],
    ['beside one that folds to the same name', 'page=2&PAGE=evil', parsedBy(folding)],
    ['beside one that holds a second name', 'page=2&x=1;page=evil', parsedBy(splitting)],
    ['that is repeated under a name that folds', 'PAGE=evil&page=2', parsedBy(folding)],
  ])('a page number %s is what the next client’s page has', async (_, query, options) => {
    const page = { path: '/list', cache: { ttl: '1m', query: ['page'] }, handle: mirror } as const
    await onStage(
      framework,
      [page],
      async (stage) => {
        await stage.get(`/list?${query}`)
        expect((await stage.get('/list?page=2')).body).toContain('"query":{"page":"2"}')
      },
      options,
    )
  })

  test.each<readonly [string, string, Parser]>([
    ['page=1&PAGE=2', 'PAGE=2&page=1', folding],
    ['a=1;page=1&page=2', 'page=2&a=1;page=1', splitting],
    ['a&b&c&d', 'd&c&b&a', limited],
  ])('?%s is not ?%s, where the order decides what the handler sees', async (one, other, parse) => {
    await onStage(
      framework,
      [{ path: '/list', cache: { ttl: '1m' }, handle: ({ query }) => ({ body: JSON.stringify(query) }) }],
      async (stage) => {
        for (const query of [one, other, one])
          expect((await stage.get(`/list?${query}`)).body).toBe(JSON.stringify(parse(query)))
      },
      parsedBy(parse),
    )
  })

  test('the parameters of a list come in the order of the key, also below a layer that has parsed them', async () => {
    const page = { path: '/list', cache: { ttl: '1m', query: ['page', 'by'] }, handle: mirror } as const
    for (const options of [{}, { prepare: replaced }])
      await onStage(
        framework,
        [page],
        async (stage) => {
          for (const query of ['page=2&by=name', 'by=name&page=2'])
            expect((await stage.get(`/list?${query}`)).body).toMatch(/^run 1 .*"query":{"by":"name","page":"2"}/)
        },
        options,
      )
  })

  test('a query whose order counts for its handler alone, as text, has a separate entry', async () => {
    await onStage(
      framework,
      [{ path: '/list', cache: { ttl: '1m' }, handle: ({ url }) => ({ body: url }) }],
      async ({ port }) => {
        for (const target of ['/list?b=2&a=1', '/list?a=1&b=2', '/list?a=%31&b=2', '/list?&a=1&b=2'])
          expect((await askRaw(port, { target })).body).toBe(target)
      },
    )
  })
})

/** What layers outside make of a query. */
const LAYERS: readonly (readonly [string, NonNullable<ShopOptions['layer']>])[] = [
  ['gives a parameter a default', (query) => Object.assign(query, { format: query['format'] ?? 'json' })],
  ['copies the query, with a default', (query) => ({ format: 'json', ...query })],
  [
    'keeps elsewhere what a parameter says',
    (query, { headers }) => {
      headers['x-format'] = JSON.stringify({ format: query['format'] ?? 'json' })
      return query
    },
  ],
]

describe.each(FRAMEWORKS)('what layers outside have made of a URL on %s', (framework) => {
  const page = { path: '/list', cache: { ttl: '1m', query: ['page'], cacheStatus: true }, handle: mirror } as const

  test.each(LAYERS)('is for its own client: a layer that %s', async (_, layer) => {
    for (const spelled of ['json', 'xml'])
      await onStage(
        framework,
        [page],
        async (stage) => {
          expect((await stage.get(`/list?page=2&format=${spelled}`)).status).toBe(200)
          const { body } = await stage.get('/list?page=2')
          expect(body.replaceAll('\\', '')).toContain('"format":"json"')
          expect(body).not.toContain('xml')
        },
        { layer },
      )
  })

  test.each([['no layer', undefined] as const, ...LAYERS])(
    'keeps no campaign from filling the entry: %s',
    async (_, layer) => {
      await onStage(
        framework,
        [page],
        async (stage) => {
          const first = await stage.get('/list?utm_source=letter&page=2')
          expect(first.fields['cache-status']?.[0]).toMatch(/; fwd=uri-miss; stored; ttl=60$/)
          for (const target of ['/list?page=2', '/list?page=2&utm_source=post']) {
            const { body, fields } = await stage.get(target)
            expect(fields['cache-status']?.[0]).toMatch(/; hit; /)
            expect(body).toBe(first.body)
          }
        },
        { layer },
      )
    },
  )

  test.each([
    ['the case of its path', framework.startsWith('Express') ? '/LIST?page=2' : '/%6Cist?page=2', /LIST|%6C/],
    ['the authority of an absolute one', 'http://evil.test/list?page=2', /evil/],
  ])('such as %s, is on no other client’s page', async (_, target, evil) => {
    const layer: ShopOptions['layer'] = (query, { headers, url }) => {
      headers['x-self'] = url
      return query
    }
    await onStage(
      framework,
      [page],
      async ({ port, get }) => {
        expect((await askRaw(port, { target })).status).toBe(200)
        const { body } = await get('/list?page=2')
        expect(body).toContain('"x-self":"/list?page=2"')
        expect(body).not.toMatch(evil)
      },
      { layer },
    )
  })
})
