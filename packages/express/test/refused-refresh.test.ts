import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { IncomingMessage } from 'node:http'
import { isRefresh } from '../src/index.ts'
import { onSite, until } from './support/site.ts'

const STALE_AFTER = 60_001
const options = { ttl: '1m', staleWhileRevalidate: '1h' } as const

let rejections: unknown[]
const note = (rejection: unknown): void => void rejections.push(rejection)
beforeEach(() => {
  rejections = []
  subscribe('cattlegrid:refresh-rejected', note)
})
afterEach(() => void unsubscribe('cattlegrid:refresh-rejected', note))

test('a refresh that comes when the cache is paused runs no handler, is not reported, and is made later', async () => {
  let runs = 0
  let pauses = true
  await onSite(
    (app, cached, cache) => {
      app.use((req, _res, next) => {
        if (pauses && isRefresh(req)) cache.pause()
        next()
      })
      app.get('/a', cached(options), (_req, res) => void res.send(String((runs += 1))))
    },
    async (site) => {
      await site.get('/a')
      await site.runtime.advance(STALE_AFTER)
      expect((await site.get('/a')).text).toBe('1')
      await site.seen('outcome', 2)
      await until(() => site.cache.paused)
      site.cache.resume()
      pauses = false
      expect([runs, rejections]).toEqual([1, []])
      await site.runtime.advance(STALE_AFTER)
      expect((await site.get('/a')).text).toBe('1')
      await site.seen('commit', 2)
      expect((await site.get('/a')).text).toBe('2')
    },
  )
})

test('a refresh at which a listener of the server throws leaves no socket open', async () => {
  let socket: Socket | undefined
  await onSite(
    (app, cached) => void app.get('/a', cached(options), (_req, res) => void res.send('a')),
    async (site) => {
      site.server.prependListener('request', (req: IncomingMessage) => {
        if (!isRefresh(req)) return
        socket = req.socket
        throw new Error('no refreshes')
      })
      await site.get('/a')
      await site.runtime.advance(STALE_AFTER)
      expect((await site.get('/a')).text).toBe('a')
      await until(() => socket?.destroyed === true)
    },
  )
})

test.each(['no-store', 'max-age=0', 'private'])(
  'behind a refresh whose response says %s, the old response is not served beyond its windows',
  async (directive) => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ staleWhileRevalidate: '1h' }), (_req, res) => {
          runs += 1
          res.set('cache-control', runs === 1 ? 'max-age=60' : directive)
          res.send(String(runs))
        })
      },
      async (site) => {
        await site.get('/a')
        await site.runtime.advance(STALE_AFTER)
        expect((await site.get('/a')).text).toBe('1')
        await site.seen('outcome', 2)
        await site.runtime.advance(60 * STALE_AFTER)
        expect((await site.get('/a')).text).toBe('3')
      },
    )
  },
)
