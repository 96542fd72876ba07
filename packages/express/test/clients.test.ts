import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from '@jest/globals'
import type { Request, RequestHandler, Response } from 'express'
import { gate, onSite, type Site, until } from './support/site.ts'

/** A client by hand: it asks, and does nothing more unless told. */
async function client({ port }: Site, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: shop\r\n\r\n`)
  return socket
}

const LEAVING: readonly (readonly [string, (socket: Socket) => unknown])[] = [
  ['ends its side', (socket) => socket.end()],
  ['hangs up', (socket) => socket.destroy()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
]

describe.each(LEAVING)('a leader’s client that %s', (_, leave) => {
  test('before anything was written: the handler finishes for the others, and its answer is stored', async () => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
          runs += 1
          await door.opened
          res.send('a')
        })
      },
      async (site) => {
        const leader = await client(site, '/a')
        await until(() => runs === 1)
        const follower = site
          .get('/a')
          .set('host', 'shop')
          .then((answer) => answer)
        await site.seen('join', 1)
        leave(leader)
        await once(leader, 'close')
        door.open()
        expect((await follower).text).toBe('a')
        expect((await site.get('/a').set('host', 'shop')).headers).toHaveProperty('age')
        expect(runs).toBe(1)
      },
    )
  })

  test('in the middle of a piped body: a follower leads at once, and nobody sees half an answer', async () => {
    const sources: PassThrough[] = []
    const handler: RequestHandler = (_req, res) => {
      const source = new PassThrough()
      sources.push(source)
      source.write('half ')
      source.pipe(res.type('text'))
      if (sources.length > 1) source.end('and half')
    }
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), handler)
      },
      async (site) => {
        const leader = await client(site, '/a')
        await once(leader, 'data')
        const followers = Promise.all([1, 2, 3].map(() => site.get('/a').set('host', 'shop')))
        await site.seen('join', 3)
        leave(leader)
        expect((await followers).map(({ text }) => text)).toEqual(Array(3).fill('half and half'))
        expect(sources).toHaveLength(2)
      },
    )
  })

  test('before a stream that is piped already has begun: a follower leads at once', async () => {
    const sources: PassThrough[] = []
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
          const source = new PassThrough()
          sources.push(source)
          source.pipe(res.type('text'))
          if (sources.length > 1) source.end('whole')
        })
      },
      async (site) => {
        const leader = await client(site, '/a')
        await until(() => sources.length === 1)
        const follower = site
          .get('/a')
          .set('host', 'shop')
          .then((answer) => answer)
        await site.seen('join', 1)
        leave(leader)
        expect((await follower).text).toBe('whole')
      },
    )
  })
})

describe('a handler that fails because its client left fails for nobody else', () => {
  const whole = async (
    handler: (run: number, req: Request, res: Response) => Promise<void>,
  ): Promise<readonly string[]> => {
    let runs = 0
    let texts: readonly string[] = []
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), async (req, res) => {
          runs += 1
          await handler(runs, req, res)
        })
      },
      async (site) => {
        const leader = await client(site, '/a')
        await until(() => runs === 1)
        const followers = Promise.all([1, 2, 3].map(() => site.get('/a').set('host', 'shop')))
        await site.seen('join', 3)
        leader.destroy()
        texts = (await followers).map(({ text }) => text)
        expect(runs).toBe(2)
      },
    )
    return texts
  }

  test('because its pipeline broke', async () => {
    const texts = await whole(async (run, _req, res) => {
      const source = new PassThrough()
      if (run > 1) source.end('whole')
      await pipeline(source, res.type('text'))
    })
    expect(texts).toEqual(['whole', 'whole', 'whole'])
  })

  test('because it stopped its work and threw', async () => {
    const texts = await whole(async (run, req, res) => {
      if (run === 1) {
        await once(req.socket, 'close')
        throw new Error('nobody is there')
      }
      res.send('whole')
    })
    expect(texts).toEqual(['whole', 'whole', 'whole'])
  })
})

describe('other clients', () => {
  test('a follower that leaves takes nobody along', async () => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
          runs += 1
          await door.opened
          res.send('a')
        })
      },
      async (site) => {
        const leader = site
          .get('/a')
          .set('host', 'shop')
          .then((answer) => answer)
        await until(() => runs === 1)
        const leaver = await client(site, '/a')
        const stayer = site
          .get('/a')
          .set('host', 'shop')
          .then((answer) => answer)
        await site.seen('join', 2)
        leaver.destroy()
        await once(leaver, 'close')
        door.open()
        expect([(await leader).text, (await stayer).text, runs]).toEqual(['a', 'a', 1])
      },
    )
  })

  test('one that has left makes room for the next one', async () => {
    const door = gate()
    let runs = 0
    let left = 0
    await onSite(
      (app, cached) => {
        app.use((_req, res, next) => {
          res.once('close', () => {
            if (!res.writableEnded) left += 1
          })
          next()
        })
        app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
          runs += 1
          await door.opened
          res.send('a')
        })
      },
      async (site) => {
        const ask = (): Promise<string> =>
          site
            .get('/a')
            .set('host', 'shop')
            .then(({ text }) => text)
        const leader = ask()
        await until(() => runs === 1)
        const leaver = await client(site, '/a')
        await site.seen('join', 1)
        leaver.destroy()
        await until(() => left === 1)
        const next = ask()
        await site.seen('join', 2)
        door.open()
        expect(await Promise.all([leader, next])).toEqual(['a', 'a'])
      },
      { maxWaiters: 2, maxWaitersPerKey: 2 },
    )
  })

  test('a connection serves its next request after a stale answer, whatever the hung handler does later', async () => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get(
          '/a',
          cached({ ttl: '1s', staleIfError: '1m', loadTimeout: '5s', softTimeout: false }),
          async (_req, res) => {
            runs += 1
            if (runs > 1) await door.opened
            res.json({ runs })
          },
        )
        app.get('/b', (_req, res) => setTimeout(() => res.send('fine'), 20))
      },
      async (site) => {
        await site.get('/a').set('host', 'shop')
        await site.runtime.advance(2000)
        const socket = await client(site, '/a')
        await site.seen('load', 2)
        await site.runtime.advance(5000)
        await once(socket, 'data')
        let received = ''
        socket.on('data', (chunk) => (received += chunk.toString()))
        socket.write('GET /b HTTP/1.1\r\nHost: shop\r\n\r\n')
        door.open()
        await until(() => received.endsWith('fine'))
        expect(received).toMatch(/^HTTP\/1.1 200/)
        socket.destroy()
      },
    )
  })

  test('a body over the limit reaches all of them, each by its own run, and is not kept', async () => {
    const body = Buffer.alloc(3 * 1024 ** 2, 'x')
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
          runs += 1
          for (let at = 0; at < body.length; at += 2 ** 16) res.write(body.subarray(at, at + 2 ** 16))
          res.end()
        })
      },
      async ({ get }) => {
        const answers = await Promise.all([1, 2, 3, 4].map(() => get('/a').responseType('blob')))
        for (const answer of answers) expect((answer.body as Buffer).equals(body)).toBe(true)
        expect(runs).toBe(4)
      },
    )
  })
})
