import { ownListener } from '@cattlegrid/http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from '@jest/globals'
import compression from 'compression'
import express, { type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { gate, onSite } from './support/site.ts'

const chunks = (): Readable => Readable.from(['who', 'le'], { objectMode: false })

/** Ways to answer, as handlers have them that expect a client to leave; with how many runs three followers get their answer. */
const WAYS: readonly (readonly [string, number, (res: Response) => unknown])[] = [
  ['pipes a stream', 1, (res) => chunks().pipe(res)],
  [
    'only logs that its pipeline failed',
    1,
    async (res) => {
      await pipeline(chunks(), res).catch(() => undefined)
    },
  ],
  ['looks whether the response is open', 2, (res) => (res.destroyed || res.closed ? undefined : res.send('whole'))],
  // `send` asks the socket.
  ['sends a file', 2, (res) => res.sendFile(__filename)],
  ['answers that the client closed the request', 2, (res) => res.sendStatus(499)],
]

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('with %s, a leader whose client left before it', (_version, make) => {
  test.each(WAYS)('%s leaves nobody behind', async (_what, wanted, answer) => {
    const door = gate()
    const left = gate()
    let runs = 0
    const handler: RequestHandler = (_req, res) => {
      runs += 1
      if (runs > 1) return void res.send('whole')
      // As if the handler itself had not heard of it.
      res.once('close', ownListener(left.open))
      void door.opened.then(() => answer(res))
    }
    await onSite(
      (app, cached) => {
        app.use(compression({ threshold: 0 }))
        app.get('/a', cached({ ttl: '1m' }), handler)
      },
      async (site) => {
        const leader = connect(site.port, '127.0.0.1')
        leader.write('GET /a HTTP/1.1\r\nHost: shop\r\n\r\n')
        await site.seen('load', 1)
        const followers = Promise.all([1, 2, 3].map(() => site.get('/a').set('host', 'shop').buffer(true)))
        await site.seen('join', 3)
        leader.destroy()
        await Promise.all([once(leader, 'close'), left.opened])
        door.open()
        const bodies = (await followers).map(({ text, body }) => text ?? (body as Buffer).toString())
        expect(bodies).toEqual(['whole', 'whole', 'whole'])
        expect(runs).toBe(wanted)
      },
      {},
      make,
    )
  })
})

test('a leader whose client left while an inner layer waits for the response to another request still serves its followers', async () => {
  const door = gate()
  let runs = 0
  await onSite(
    (app, cached) => {
      const outer = cached({ ttl: '1m', key: { headers: ['x-outer'] } })
      app.get('/a', outer, cached({ ttl: '1m' }), (_req, res) => {
        runs += 1
        void door.opened.then(() => res.send('whole'))
      })
    },
    async (site) => {
      const textFor = async (outer: string): Promise<string> =>
        (await site.get('/a').set('x-outer', outer).set('host', 'shop')).text
      const leader = textFor('one')
      await site.seen('load', 2)
      const leaver = connect(site.port, '127.0.0.1')
      leaver.write('GET /a HTTP/1.1\r\nHost: shop\r\nX-Outer: two\r\n\r\n')
      // Its outer layer leads, and its inner one joins.
      await site.seen('join', 1)
      const follower = textFor('two')
      await site.seen('join', 2)
      leaver.destroy()
      await once(leaver, 'close')
      await new Promise((resolve) => setTimeout(resolve, 20))
      door.open()
      expect([await leader, await follower, runs]).toEqual(['whole', 'whole', 1])
    },
  )
})
