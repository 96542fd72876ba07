import { describe, expect, test } from '@jest/globals'
import express from 'express'
import { type Ask, CLEAN, verdict } from './raw-client.ts'
import { links, mirror, type Seen, type ShopOptions } from './shop.ts'
import { FRAMEWORKS, onStage } from './stage.ts'

type Field = readonly [string, string]

const cache = { ttl: '1m' } as const
const to = (target: string, ...fields: readonly Field[]): Ask => ({ target, fields })

/** Fields that a handler may believe, and no key holds. */
const BELIEVED = [
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Server',
  'X-Forwarded-Scheme',
  'X-Forwarded-Prefix',
  'X-Forwarded-Port',
  'X-Forwarded-Path',
  'X-Forwarded-Uri',
  'X-Forwarded-Ssl',
  'X-Forwarded-Protocol',
  'X-Url-Scheme',
  'Front-End-Https',
  'Forwarded',
  'X-Host',
  'X-HTTP-Host-Override',
  'X-Original-Host',
  'X-Original-URL',
  'X-Original-URI',
  'X-Rewrite-URL',
]

const HOSTS: readonly (readonly [string, readonly Field[]])[] = [
  [
    'a Host beside the forwarded one',
    [
      ['Host', 'evil.example'],
      ['X-Forwarded-Host', 'shop.example'],
    ],
  ],
  [
    'a second Host',
    [
      ['Host', 'shop.example'],
      ['Host', 'evil.example'],
    ],
  ],
  [
    'a second forwarded host',
    [
      ['X-Forwarded-Host', 'shop.example'],
      ['x-forwarded-host', 'evil.example'],
    ],
  ],
  ['a list of forwarded hosts', [['X-Forwarded-Host', 'shop.example, evil.example']]],
  ['a forwarded host alone', [['X-Forwarded-Host', 'evil.example']]],
  ['a host with a dot at its end', [['Host', 'shop.example.evil.']]],
  ['a host with a user in it', [['Host', 'evil@shop.example']]],
]

describe.each(FRAMEWORKS)('unkeyed fields on %s', (framework) => {
  test.each(BELIEVED)(
    '%s is not in the page of the next client, in whatever case and however often it comes',
    async (name) => {
      await onStage(framework, [{ path: '/page', cache, handle: mirror }], async (stage) => {
        const [lower, upper] = [name.toLowerCase(), name.toUpperCase()]
        await stage.ask(to('/page', [name, 'evil.example'], [lower, 'evil'], [upper, 'evil, evil']))
        expect(verdict(await stage.get('/page'))).toEqual(CLEAN)
        expect(stage.count('load')).toBe(1)
      })
    },
  )

  test.each(HOSTS)('%s is in no link of the next client, whether the app trusts a proxy or not', async (_, fields) => {
    const pages = ['/page', '/links'].map((path) => ({ path, cache, handle: path === '/page' ? mirror : links }))
    for (const trust of [true, false])
      await onStage(
        framework,
        pages,
        async (stage) => {
          for (const { path } of pages) {
            await stage.ask(to(path, ...fields))
            expect(verdict(await stage.get(path))).toEqual(CLEAN)
            const behind = to(path, ['Host', 'shop.example'], ['X-Forwarded-Host', 'shop.example'])
            expect(verdict(await stage.ask(behind))).toEqual(CLEAN)
          }
        },
        { trust },
      )
  })

  test('a spelling of the host that makes no difference to the key makes none to the handler', async () => {
    await onStage(framework, [{ path: '/page', cache, handle: mirror }], async (stage) => {
      await stage.ask(to('/page', ['Host', 'SHOP.Example:80']))
      const { body } = await stage.get('/page')
      expect(body).toMatch(/^run 1 /)
      expect(body).not.toMatch(/:80|SHOP/)
    })
  })

  test('a keyed cookie in a spelling that parsers read differently stands for no other', async () => {
    const themed = { ttl: '1m', key: { cookies: ['theme'] } } as const
    const page = {
      path: '/page',
      cache: themed,
      handle: mirror,
    }
    for (const cookie of ['theme\xa0=evil; theme=dark', 'theme\xa0=dark; theme=evil', '\xa0theme=dark', 'theme =dark'])
      await onStage(framework, [page], async (stage) => {
        await stage.ask(to('/page', ['Cookie', cookie]))
        for (const theme of ['theme=dark', 'theme=light']) {
          const { body } = await stage.ask(to('/page', ['Cookie', theme]))
          expect(body).toContain(`"cookie":"${theme}"`)
        }
      })
  })

  test.each(['EUR\xa0', '\xa0EUR', 'EUR,', 'eur'])(
    'a keyed field that says %j does not stand for EUR',
    async (value) => {
      const priced = { ttl: '1m', key: { headers: ['x-currency'] } } as const
      const page = {
        path: '/page',
        cache: priced,
        handle: ({ headers }: Seen) => ({ body: headers['x-currency'] === 'EUR' ? 'in euros' : 'evil' }),
      }
      await onStage(framework, [page], async (stage) => {
        await stage.ask(to('/page', ['X-Currency', value]))
        expect((await stage.ask(to('/page', ['X-Currency', 'EUR']))).body).toBe('in euros')
      })
    },
  )

  test('a field that connections are told to drop is in the key all the same', async () => {
    const priced = { ttl: '1m', key: { headers: ['x-currency'] } } as const
    const page = { path: '/page', cache: priced, handle: mirror }
    await onStage(framework, [page], async (stage) => {
      await stage.ask(to('/page', ['Connection', 'keep-alive, X-Currency'], ['X-Currency', 'evil']))
      expect(verdict(await stage.ask(to('/page', ['X-Currency', 'EUR'])))).toEqual(CLEAN)
      expect(verdict(await stage.get('/page'))).toEqual(CLEAN)
    })
  })
})

/** Express has no text where there is no query. */
type Parser = (text: string | undefined | null) => Record<string, unknown>

/** Brackets and dots make objects. */
const nested: Parser = (text) => {
  const parse = express().set('query parser', 'extended').get('query parser fn') as Parser
  return parse(text?.replaceAll(/\.(\w+)=/g, '[$1]='))
}
const NESTED: Partial<ShopOptions> = { prepare: (app) => app.set('query parser', nested), parseQuery: nested }

describe.each(FRAMEWORKS)('unkeyed queries on %s', (framework) => {
  test.each([
    'utm_source=evil',
    '%75tm=evil&&=evil&evil',
    '[page]=evil',
    '%5Bpage%5D=evil',
    '%5bpage%5d%ff=evil',
    'page.x=evil',
    'page[]=evil',
    'page[x][y]=evil',
    'x[page]=evil',
    '?page=evil',
    'utm=1;page=evil',
    'page%00=evil',
    '__proto__[page]=evil',
    'constructor[prototype][page]=evil',
  ])('?%s is not in the list of the next client, whichever parser the app has', async (query) => {
    for (const parsers of [{}, NESTED])
      await onStage(
        framework,
        [{ path: '/list', cache: { ttl: '1m', query: ['page'] }, handle: mirror }],
        async (stage) => {
          await stage.get(`/list?${query}`)
          expect(verdict(await stage.get('/list'))).toEqual(CLEAN)
          await stage.get(`/list?page=2&${query}`)
          expect(verdict(await stage.get('/list?page=2'))).toEqual(CLEAN)
          expect(Object.keys(Object.prototype)).toEqual([])
        },
        parsers,
      )
  })
})
