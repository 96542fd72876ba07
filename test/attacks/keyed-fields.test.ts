import { describe, expect, test } from '@jest/globals'
import type { RouteOptions } from '@cattlegrid/http'
import type { Ask } from './raw-client.ts'
import type { Page, Seen } from './shop.ts'
import { FRAMEWORKS, onStage } from './stage.ts'

type Field = readonly [string, string]

const to = (...fields: readonly Field[]): Ask => ({ target: '/page', fields })

/** All that a handler can read of one field. */
function read(name: string, { headers, distinct, lines }: Seen): string {
  const raw = lines.filter((_, index) => index % 2 === 1 && lines[index - 1]?.toLowerCase() === name)
  return JSON.stringify([headers[name], distinct[name], raw])
}

/** As a proxy forwards it: without the fields that belong to the connection (RFC 9110 section 7.6.1). */
function forwarded(name: string, seen: Seen): string {
  const dropped = (seen.headers.connection ?? '').toLowerCase().split(/\s*,\s*/)
  return dropped.includes(name) ? 'none' : read(name, seen)
}

const KEYED = ['key.headers', 'Vary'] as const

/** A page that shows how its handler sees the field, which is keyed in one of the two ways. */
function pageBy(way: (typeof KEYED)[number], name: string, show: (name: string, seen: Seen) => string = read): Page {
  const key: RouteOptions = way === 'Vary' ? {} : { key: { headers: [name] } }
  return {
    path: '/page',
    cache: { ttl: '1m', staleWhileRevalidate: '1m', cacheStatus: true, ...key },
    handle: (seen) => ({ headers: way === 'Vary' ? { vary: name } : {}, body: show(name, seen) }),
  }
}

const PLACES = FRAMEWORKS.flatMap((framework) => KEYED.map((way) => [way, framework] as const))

describe.each(PLACES)('fields in %s on %s', (way, framework) => {
  test.each<readonly [string, string, string]>([
    ['x-filter', '{"q":"a,b"}', '{"q":"a, b"}'],
    ['x-filter', 'a', 'A'],
    ['accept-language', 'de-DE', 'de-de'],
    ['accept-language', 'de,en', 'de, en'],
  ])('%s: %s is not %s', async (name, one, other) => {
    await onStage(framework, [pageBy(way, name)], async (stage) => {
      for (const value of [one, other, one])
        expect((await stage.ask(to([name, value]))).body).toBe(JSON.stringify([value, [value], [value]]))
    })
  })

  test('of two lines of a field the second reaches nobody who sends the first', async () => {
    await onStage(framework, [pageBy(way, 'referer')], async (stage) => {
      const lines = [
        ['Referer', 'honest'],
        ['Referer', 'evil'],
      ] as const
      for (const _ of [1, 2]) expect((await stage.ask(to(...lines))).body).toContain('evil')
      for (const _ of [1, 2]) expect((await stage.ask(to(['Referer', 'honest']))).body).not.toContain('evil')
      // What is stored is served to whoever sends the first line, also: it is no way to make a handler run.
      expect((await stage.ask(to(...lines))).fields['cache-status']?.[0]).toMatch(/; hit/)
    })
  })

  test.each([
    ['referer', 'referrer'],
    ['referrer', 'referer'],
  ])('where %s is keyed, %s, which Express takes for it, is on no page of the next client', async (keyed, alias) => {
    const show = (_: string, { headers }: Seen): string => String(headers['referrer'] ?? headers.referer ?? 'none')
    await onStage(framework, [pageBy(way, keyed, show)], async (stage) => {
      const honest: readonly Field[][] = [[[keyed, 'honest']], []]
      for (const fields of honest) for (const _ of [1, 2]) await stage.ask(to(...fields, [alias, 'evil']))
      for (const fields of honest) expect((await stage.ask(to(...fields))).body).toBe(fields[0]?.[1] ?? 'none')
      // Now its URL has an entry, and the request is served from it.
      const { fields } = await stage.ask(to([keyed, 'honest'], [alias, 'evil']))
      expect(fields['cache-status']?.[0]).toMatch(/; hit/)
    })
  })

  test('a field that Connection tells a proxy to drop makes no page for those who send it', async () => {
    await onStage(framework, [pageBy(way, 'x-tenant', forwarded)], async (stage) => {
      const dropped = to(['Connection', 'keep-alive, X-Tenant'], ['X-Tenant', 'a'])
      for (const _ of [1, 2]) expect((await stage.ask(dropped)).body).toBe('none')
      expect((await stage.ask(to(['X-Tenant', 'a']))).body).toContain('a')
      expect((await stage.ask(dropped)).body).toContain('a')
    })
  })

  test.each<readonly [string, ...Field[]]>([
    ['repeated-field', ['X-A', '1'], ['x-a', '2']],
    ['connection', ['Connection', 'x-a'], ['X-A', '1']],
  ])('%s is the detail of such a request', async (detail, ...fields) => {
    await onStage(framework, [pageBy(way, 'x-a')], async (stage) => {
      // Only a response tells that it varies.
      const learnt = await stage.ask(to(...fields))
      expect(learnt.fields['cache-status']?.[0]).toContain(`detail=${detail}`)
      await stage.ask(to(['X-A', '3']))
      const known = await stage.ask(to(...fields))
      expect(known.fields['cache-status']).toEqual([`cattlegrid; fwd=bypass; detail=${detail}`])
    })
  })

  test('the refresh of a page shows its handler the field as the client sent it', async () => {
    await onStage(framework, [pageBy(way, 'accept-language')], async (stage) => {
      const asked = to(['Accept-Language', 'de-DE, en'])
      const { body } = await stage.ask(asked)
      const commits = stage.count('commit')
      await stage.runtime.advance(61_000)
      expect((await stage.ask(asked)).body).toBe(body)
      await stage.seen('commit', commits + 1)
      expect((await stage.ask(asked)).body).toBe(body)
      expect(stage.count('load')).toBeGreaterThan(1)
    })
  })
})

describe.each(FRAMEWORKS)('keyed fields on %s', (framework) => {
  test('a field that a layer inside changes selects the page by what the client sent', async () => {
    const handle: Page['handle'] = ({ headers }) => {
      const { 'x-kind': asked } = headers
      headers['x-kind'] = 'evil'
      return { headers: { vary: 'x-kind' }, body: String(asked) }
    }
    await onStage(framework, [{ path: '/page', cache: { ttl: '1m' }, handle }], async (stage) => {
      for (const kind of ['a', 'evil', 'a', 'evil']) expect((await stage.ask(to(['X-Kind', kind]))).body).toBe(kind)
      expect(stage.count('load')).toBeLessThanOrEqual(4)
    })
  })

  test.each([
    'theme=dark; theme=evil',
    'theme=evil; theme=dark',
    'theme=dark;theme = evil',
    'theme; theme=dark',
    'th%65me=evil; theme=dark',
    'th%65me=evil',
  ])('the second cookie of a keyed name (%s) is on no page of the next client', async (cookie) => {
    const cache = { ttl: '1m', cacheStatus: true, key: { cookies: ['theme'] } } as const
    const handle: Page['handle'] = (seen) => ({ body: read('cookie', seen) })
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      const { fields } = await stage.ask(to(['Cookie', cookie]))
      expect(fields['cache-status']).toEqual(['cattlegrid; fwd=bypass; detail=repeated-cookie'])
      for (const theme of ['theme=dark', 'theme=evil'])
        expect((await stage.ask(to(['Cookie', theme]))).body).toBe(JSON.stringify([theme, [theme], [theme]]))
    })
  })

  test('of two lines of credentials the second reaches nobody who sends the first', async () => {
    const cache = { ttl: '1m', authorization: 'key' } as const
    const handle: Page['handle'] = (seen) => ({ body: read('authorization', seen) })
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      await stage.ask(to(['Authorization', 'a'], ['Authorization', 'evil']))
      expect((await stage.ask(to(['Authorization', 'a']))).body).not.toContain('evil')
    })
  })
})
