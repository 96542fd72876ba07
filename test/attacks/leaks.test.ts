import { describe, expect, test } from '@jest/globals'
import { type Answer, bytesOf } from './raw-client.ts'
import type { Reply, Seen } from './shop.ts'
import { FRAMEWORKS, gate, onStage } from './stage.ts'

type Field = readonly [string, string]

const cache = { ttl: '1m' } as const

/** Everything that a page may know its visitor by. */
function greeting({ headers }: Seen): Reply {
  return { body: `hello ${[headers.authorization, headers.cookie].join(' ')}` }
}

describe.each(FRAMEWORKS)('credentials on %s', (framework) => {
  test.each<readonly [string, readonly Field[]]>([
    ['in any case', [['aUTHORIZATION', 'Basic alice']]],
    [
      'on two lines',
      [
        ['Authorization', 'Basic alice'],
        ['Authorization', 'Basic evil'],
      ],
    ],
    [
      'empty, with a second line',
      [
        ['Authorization', ''],
        ['Authorization', 'Basic alice'],
      ],
    ],
    [
      'said to belong to the connection',
      [
        ['Connection', 'keep-alive, authorization'],
        ['Authorization', 'Basic alice'],
      ],
    ],
    ['of an unknown scheme', [['Authorization', '\xffalice']]],
  ])('%s: who shows them leaves nothing behind, and is given nothing', async (_, fields) => {
    // As if nobody noticed that the handler looks at who asks.
    const unnoticed = { ...cache, allowReads: ['authorization', 'cookie'] }
    await onStage(framework, [{ path: '/me', cache: unnoticed, handle: greeting }], async (stage) => {
      const asked = { target: '/me', fields }
      const own = await stage.ask(asked)
      expect((await stage.get('/me')).body).toBe('hello  ')
      expect((await stage.ask(asked)).body).toBe(own.body)
      expect((await stage.ask({ ...asked, method: 'HEAD' })).status).toBe(200)
      expect((await stage.get('/me')).body).toBe('hello  ')
      expect(stage.count('commit')).toBe(1)
    })
  })

  test('a stranger who asks while a user waits for his own page gets neither that page nor a wait', async () => {
    const door = gate()
    const handle = async (seen: Seen): Promise<Reply> => {
      if (seen.headers.authorization !== undefined) await door.opened
      return greeting(seen)
    }
    await onStage(framework, [{ path: '/me', cache, handle }], async (stage) => {
      const alice = stage.ask({ target: '/me', fields: [['Authorization', 'Basic alice']] })
      const strangers = await Promise.all(Array.from({ length: 20 }, () => stage.get('/me')))
      door.open()
      for (const { body } of strangers) expect(body).toBe('hello  ')
      expect((await alice).body).toBe('hello Basic alice ')
    })
  })
})

describe.each(FRAMEWORKS)('cookies on %s', (framework) => {
  const login = ({ headers }: Seen, name: string, value: string | readonly string[]): Reply => ({
    headers: { [name]: value },
    body: `logged in as ${String(headers['x-user'])}`,
  })
  const asUser = (user: string) => ({ target: '/login', fields: [['X-User', user]] as const })

  test.each(['Set-Cookie', 'set-cookie', 'SET-COOKIE'])(
    '%s: 30 who log in at once each get their own, and no more',
    async (name) => {
      const door = gate()
      const handle = async (seen: Seen): Promise<Reply> => {
        await door.opened
        const user = String(seen.headers['x-user'])
        return login(seen, name, [`sid=${user}`, `theme=${user}`])
      }
      await onStage(framework, [{ path: '/login', cache, handle }], async (stage) => {
        const users = Array.from({ length: 30 }, (_, index) => `user${index}x`)
        const asked = users.map((user) => stage.ask(asUser(user)))
        await stage.seen('join', 29)
        door.open()
        for (const [index, answer] of (await Promise.all(asked)).entries()) expectOnly(answer, users[index] ?? '')
        expectOnly(await stage.ask(asUser('late')), 'late')
      })
    },
  )

  function expectOnly({ status, body, fields }: Answer, user: string): void {
    expect({ status, body, cookies: fields['set-cookie'] }).toEqual({
      status: 200,
      body: `logged in as ${user}`,
      cookies: [`sid=${user}`, `theme=${user}`],
    })
  }
})

describe.each(FRAMEWORKS)('origins on %s', (framework) => {
  const allow = (seen: Seen) => ({ 'access-control-allow-origin': seen.headers.origin ?? 'null' })
  const from = (origin: string) => ({ target: '/data', fields: [['Origin', origin]] as const })
  const [good, evil] = [from('https://shop.example'), from('https://evil.example')]

  test('a handler that allows the origin of its request, and says that it varies by it, allows each its own', async () => {
    const handle = (seen: Seen): Reply => ({ headers: { ...allow(seen), vary: 'Origin' }, body: 'data' })
    await onStage(framework, [{ path: '/data', cache, handle }], async (stage) => {
      for (const origin of [evil, good, evil, good]) {
        const { fields } = await stage.ask(origin)
        expect(fields['access-control-allow-origin']).toEqual([origin.fields[0][1]])
      }
      expect((await stage.get('/data')).fields['access-control-allow-origin']).toEqual(['null'])
    })
  })

  test('a layer in front of the cache allows each its own, and what it allowed is never repeated', async () => {
    const handle = (): Reply => ({ body: 'data' })
    await onStage(framework, [{ path: '/data', cache, handle, outside: allow }], async (stage) => {
      for (const origin of [evil, good]) {
        const { fields } = await stage.ask(origin)
        expect(fields['access-control-allow-origin']).toEqual([origin.fields[0][1]])
      }
      expect(stage.count('load')).toBe(1)
    })
  })
})

describe.each(FRAMEWORKS)('one connection of many clients on %s', (framework) => {
  const pages = [
    { path: '/me', cache, handle: greeting },
    { path: '/page', cache: { ...cache, query: ['page'] }, handle: ({ url }: Seen) => ({ body: `page ${url}` }) },
    { path: '/login', cache, handle: () => ({ headers: { 'set-cookie': 'sid=evil' }, body: 'in' }) },
  ]
  const attack = [
    { target: '/page?utm=evil', fields: [['If-None-Match', '*'] as const, ['Range', 'bytes=0-0'] as const] },
    { target: '/login' },
    { target: '/me', fields: [['Authorization', 'Basic evil'] as const] },
    { method: 'HEAD', target: '/page#evil' },
    { target: 'http://evil.example/page' },
    { method: 'POST', target: '/page', fields: [['Content-Length', '4'] as const], body: 'evil' },
  ]

  test('what one of them asks for sticks to none of the next, one after the other', async () => {
    await onStage(framework, pages, async (stage) => {
      const connection = await stage.open()
      for (const request of attack) {
        connection.write(request)
        await connection.next(request.method)
        connection.write({ target: '/page' })
        const victim = await connection.next()
        expect([victim.status, victim.body, victim.fields['set-cookie']]).toEqual([200, 'page /page', undefined])
        connection.write({ target: '/me' })
        expect((await connection.next()).body).toBe('hello  ')
      }
      expect(connection.left).toBe('')
      connection.leave()
    })
  })

  test('what one of them asks for sticks to none of the next, sent without waiting for answers', async () => {
    await onStage(framework, pages, async (stage) => {
      const connection = await stage.open()
      connection.write(attack.map((request) => bytesOf(request) + bytesOf({ target: '/page' })).join(''))
      for (const { method } of attack) {
        await connection.next(method)
        const victim = await connection.next()
        expect([victim.status, victim.body, victim.fields['set-cookie']]).toEqual([200, 'page /page', undefined])
      }
      expect(connection.left).toBe('')
      connection.leave()
    })
  })
})
