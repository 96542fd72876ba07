import { describe, expect, test } from '@jest/globals'
import { CLEAN, verdict } from './raw-client.ts'
import { mirror, type Page, plain, type Reply, type Seen } from './shop.ts'
import { FRAMEWORKS, gate, onStage } from './stage.ts'

const cache = { ttl: '1m' } as const

describe.each(FRAMEWORKS)('targets on %s', (framework) => {
  test.each([
    'http://evil.example/page',
    'HTTP://EVIL.example:8080/page',
    'http://shop.example@evil.example/page',
    'http://user:evil@shop.example/page',
    'evil://evil/page',
    'http://evil/page#evil',
    '/page#evil',
    '/page#?evil',
  ])('%s is /page, for the key and for the handler', async (target) => {
    await onStage(framework, [{ path: '/page', cache, handle: mirror }], async (stage) => {
      await stage.ask({ target })
      expect(verdict(await stage.get('/page'))).toEqual(CLEAN)
      // A framework may have no route for such a target.
      expect((await stage.get('/page')).body).toMatch(/^run 1 /)
    })
  })

  test('a flood of invented authorities and fragments makes no entry but the one of the path', async () => {
    await onStage(framework, [{ path: '/page', cache, handle: plain }], async (stage) => {
      await stage.get('/page')
      for (let turn = 0; turn < 100; turn += 1) {
        const answers = [{ target: `http://evil${turn}.example/page` }, { target: `/page#evil${turn}` }].map(stage.ask)
        for (const { body, status } of await Promise.all(answers)) expect(status === 200 ? body : 'run 1').toBe('run 1')
      }
      expect(stage.count('load')).toBe(1)
    })
  })

  test.each([
    ['/J', '/j'],
    ['/j/', '/j'],
    ['/j?', '/j'],
    ['/j?&&', '/j'],
    ['/%6a', '/j'],
    ['/P/%41%2c/', '/p/A,'],
    ['/p/%e4%b8%ad', '/p/%E4%B8%AD'],
  ])('%s is not redirected to %s for everybody', async (target, canonical) => {
    const handle = ({ url, rawUrl }: Seen): Reply =>
      url === canonical && rawUrl === canonical ? { body: 'ok' } : { status: 301, headers: { location: canonical } }
    const pages = ['/j', '/p/:id'].map((path) => ({ path, cache, handle }))
    await onStage(framework, pages, async (stage) => {
      await stage.get(target)
      expect((await stage.get(canonical)).body).toBe('ok')
    })
  })

  test.each(['/page#evil', 'http://evil.example/page', '/page?utm=evil', '/page?'])(
    'a handler that looks at %s when its client has left puts nothing of it on the page of all others',
    async (target) => {
      const left = gate()
      const handle: Page['handle'] = async (_, run, look) => {
        await left.opened
        return mirror(look(), run)
      }
      await onStage(framework, [{ path: '/page', cache: { ...cache, query: ['page'] }, handle }], async (stage) => {
        const connection = await stage.open()
        connection.write({ target })
        await stage.seen('load', 1)
        connection.leave()
        await stage.deserted()
        left.open()
        const { body } = await stage.get('/page')
        expect([body.includes('evil'), body.includes('/page?')]).toEqual([false, false])
        // The handler of the URL itself may know that its client has left, so another one leads. A subrequest has no client.
        expect(stage.count('load')).toBe(target === '/page?' ? 2 : 1)
      })
    },
  )

  const DECEPTIVE = [
    '/account/evil.css',
    '/account/..%2fevil.css',
    '/account%2fevil.css',
    '/account/%2e%2e/static/evil.css',
    '/account/;evil.css',
    '/account/%00evil.css',
    '/account/evil.css?v=1',
    '/account/evil%0d%0a.css',
  ]

  test.each(DECEPTIVE)(
    '%s of one client is shown to no other: nothing is kept that does not ask for it',
    async (target) => {
      const account = (seen: Seen) => ({ body: `account of ${String(seen.headers.cookie)}` })
      const asset = { headers: { 'cache-control': 'public, max-age=3600' }, body: 'a {}' }
      const pages = [
        { path: '/account*', handle: account },
        { path: '/static*', handle: () => asset },
      ]
      await onStage(framework, pages, async (stage) => {
        const victim = await stage.ask({ target, fields: [['Cookie', 'session=victim']] })
        const attacker = await stage.ask({ target, fields: [['Cookie', 'session=other']] })
        expect(victim.status === 200 ? victim.body : 'nothing').toMatch(/^account of session=victim$|^nothing$/)
        expect(attacker.raw).not.toContain('victim')
        expect((await stage.get('/static/a.css')).body).toBe('a {}')
      })
    },
  )

  const MISREAD = [
    '/k/a%00',
    '/k/%2e%2e/a',
    '/k/..%2fa',
    '/k/./a',
    '/k//a',
    '//k/a',
    '/k/a;evil',
    '/k/a%3fevil',
    '/k/a%23evil',
    '/k/%c0%ae',
    '/k/%c1%a1',
    '/k/%e0%81%a1',
    '/k/a%20',
    '/k/a%ff',
    '/k/%61%',
    '/k/\\a',
    '/k/a?x[]=evil',
    '/k/a?__proto__=evil&constructor=evil',
    '/k/a?%00=evil',
    '/k/a?%c0%ae=evil',
    '/k/\xe4evil',
  ]

  test.each(MISREAD)('%j is never taken for /k/a, nor hurts it', async (target) => {
    await onStage(framework, [{ path: '/k/:id', cache, handle: mirror }], async (stage) => {
      const first = await stage.get(target)
      const again = await stage.get(target)
      expect([200, 400, 404]).toContain(first.status)
      expect({ status: again.status, body: again.body }).toEqual({ status: first.status, body: first.body })
      const { status, body } = await stage.get('/k/a')
      expect(status).toBe(200)
      expect(body).toMatch(/"url":"\/k\/a"/)
      expect(body).not.toContain('evil')
      expect(stage.count('load')).toBe(first.status === 200 ? 2 : 1)
    })
  })

  test.each([
    ['/k/a?x+y=evil&x%20y=1', '/k/a?x%20y=1&x+y=evil'],
    ['/k/a?x=evil&x=1', '/k/a?x=1&x=evil'],
    ['/k/a?[x]=evil&x=1', '/k/a?x=1&[x]=evil'],
    ['/k/a?x[]=evil&x[]=1', '/k/a?x[]=1&x[]=evil'],
  ])('%s and %s, which parsers read differently, are two', async (one, other) => {
    const first = ({ query }: Seen) => ({ body: JSON.stringify(Object.values(query)) })
    const pages = [{ path: '/k/:id', cache, handle: first }]
    const alone = await answerOf(other)
    await onStage(framework, pages, async (stage) => {
      await stage.get(one)
      expect((await stage.get(other)).body).toBe(alone)
    })

    async function answerOf(target: string): Promise<string> {
      let body = ''
      await onStage(framework, pages, async (stage) => {
        body = (await stage.get(target)).body
      })
      return body
    }
  })
})
