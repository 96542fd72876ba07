import { describe, expect, test } from '@jest/globals'
import type { Answer, Ask } from './raw-client.ts'
import type { Page } from './shop.ts'
import { FRAMEWORKS, onStage } from './stage.ts'

const from = (host: string): Ask => ({ target: '/page', fields: [['Host', host]] })
const status = ({ fields }: Answer): string | undefined => fields['cache-status']?.[0]

/** A page with a link, whose beginning a layer outside makes of the host of each request. */
function linkedPage(hosts?: readonly string[]): Page {
  let base = ''
  const key = { host: 'shop.example' }
  return {
    path: '/page',
    cache: { ttl: '1m', staleWhileRevalidate: '1m', cacheStatus: true, key, hosts },
    outside: ({ headers }) => {
      base = `http://${headers.host}`
      return {}
    },
    handle: () => ({ body: base }),
  }
}

describe.each(FRAMEWORKS)('a fixed host in the key on %s', (framework) => {
  test('lets no request with another host make the page of others, and serves it that page', async () => {
    await onStage(framework, [linkedPage()], async (stage) => {
      const alone = await stage.ask(from('evil.example'))
      expect([alone.body, status(alone)]).toEqual(['http://evil.example', 'cattlegrid; fwd=bypass; detail=host'])
      expect((await stage.ask(from('shop.example'))).body).toBe('http://shop.example')
      const follower = await stage.ask(from('evil.example'))
      expect([follower.body, status(follower)]).toEqual(['http://shop.example', 'cattlegrid; hit; ttl=60'])
    })
  })

  test('is the host of a refresh that such a request causes', async () => {
    await onStage(framework, [linkedPage()], async (stage) => {
      await stage.ask(from('shop.example'))
      await stage.runtime.advance(61_000)
      expect((await stage.ask(from('evil.example'))).body).toBe('http://shop.example')
      await stage.seen('commit', 2)
      const next = await stage.ask(from('shop.example'))
      expect([next.body, status(next)]).toEqual(['http://shop.example', 'cattlegrid; hit; ttl=60'])
    })
  })

  test('is that of requests whose own host the route lists, and of no others', async () => {
    await onStage(framework, [linkedPage(['www.example'])], async (stage) => {
      expect(status(await stage.ask(from('shop.example')))).toBe('cattlegrid; fwd=bypass; detail=host')
      await stage.ask(from('WWW.example:80'))
      expect(status(await stage.ask(from('www.example')))).toMatch(/; hit/)
    })
  })
})
