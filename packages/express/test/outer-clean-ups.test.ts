import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, jest, test } from '@jest/globals'
import { ownListener } from '@cattlegrid/http'
import express, { type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { gate, onSite } from './support/site.ts'

/** That of Express, which has no types. */
const onFinished = jest.requireActual<(res: Response, listener: () => void) => void>('on-finished')

test.each([
  ['Express 5', express],
  ['Express 4', express4],
])(
  'on %s, a layer outside that notes by on-finished that the client has left tells the handler only once its response is settled',
  async (_v, make) => {
    const [door, left, ended] = [gate(), gate(), gate()]
    const signals = new WeakMap<object, AbortController>()
    const notes: RequestHandler = (req, _res, next) => {
      signals.set(req, new AbortController())
      next()
    }
    const logs: RequestHandler = (req, res, next) => {
      onFinished(res, () => {
        signals.get(req)?.abort()
        if (req.headers['x-leaves'] !== undefined) ended.open()
      })
      next()
    }
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(notes, logs)
        app.get('/a', cached({ ttl: '1m' }), async (req, res) => {
          runs += 1
          // As if nobody had heard of it.
          res.once('close', ownListener(left.open))
          const rows = ['one ']
          if (runs === 1) await door.opened
          if (signals.get(req)?.signal.aborted !== true) rows.push('two')
          res.send(rows.join(''))
        })
      },
      async (site) => {
        const leader = connect(site.port, '127.0.0.1')
        leader.write('GET /a HTTP/1.1\r\nHost: shop\r\nX-Leaves: yes\r\n\r\n')
        await site.seen('load', 1)
        const follower = site
          .get('/a')
          .set('host', 'shop')
          .then(({ text }) => text)
        await site.seen('join', 1)
        leader.destroy()
        await Promise.all([once(leader, 'close'), left.opened])
        await new Promise(setImmediate)
        door.open()
        expect(await follower).toBe('one two')
        expect((await site.get('/a').set('host', 'shop')).text).toBe('one two')
        expect(runs).toBe(1)
        // It still runs, as without the cache.
        await ended.opened
      },
      {},
      make,
    )
  },
)
