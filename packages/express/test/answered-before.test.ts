import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, test } from '@jest/globals'
import express, { type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { isRefresh } from '../src/index.ts'
import { gate, onSite, until } from './support/site.ts'

/** Refuses requests, and passes them on nevertheless, as a layer without `return` does. */
const refuses =
  (refused: (req: express.Request) => boolean): RequestHandler =>
  (req, res, next) => {
    if (refused(req)) res.status(403).end()
    next()
  }

const isBlocked = (req: express.Request): boolean => req.headers['x-blocked'] !== undefined

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('a request that an outer layer has answered, on %s', (_version, make) => {
  test('runs its handler for itself, and the others get a response of their own', async () => {
    const seen: boolean[] = []
    await onSite(
      (app, cached) => {
        app.use(refuses(isBlocked))
        app.get('/a', cached({ ttl: '1m' }), (req, res) => {
          seen.push(isBlocked(req))
          if (!res.headersSent) res.send('a')
        })
      },
      async (site) => {
        const answers = await Promise.all([site.get('/a').set('x-blocked', '1'), site.get('/a'), site.get('/a')])
        expect(answers.map(({ status }) => status)).toEqual([403, 200, 200])
        expect([seen.length, new Set(seen)]).toEqual([2, new Set([false, true])])
      },
      {},
      make,
    )
  })

  test('does not lead when it has waited: its handler does not run', async () => {
    const held = gate()
    let impatient: Response | undefined
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use((req, res, next) => {
          if (req.headers['x-impatient'] !== undefined) impatient = res
          next()
        })
        app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
          runs += 1
          await held.opened
          res.cookie('session', String(runs)).send('a')
        })
      },
      async (site) => {
        const leader = site.get('/a').then(({ status }) => status)
        await until(() => runs === 1)
        const waiter = site
          .get('/a')
          .set('x-impatient', '1')
          .then(({ status }) => status)
        await site.seen('join', 1)
        impatient?.status(503).end()
        expect(await waiter).toBe(503)
        held.open()
        expect(await leader).toBe(200)
        await site.seen('outcome', 2)
        expect([runs, site.count('load')]).toEqual([1, 2])
      },
      {},
      make,
    )
  })

  test('leaves the entry as it is where it is a refresh', async () => {
    const rejections: unknown[] = []
    const note = (rejection: unknown): void => void rejections.push(rejection)
    subscribe('cattlegrid:refresh-rejected', note)
    await onSite(
      (app, cached) => {
        app.use(refuses(isRefresh))
        app.get('/a', cached({ ttl: '1m', staleWhileRevalidate: '1h' }), (_req, res) => {
          if (!res.headersSent) res.send('a')
        })
      },
      async (site) => {
        await site.get('/a')
        await site.runtime.advance(60_001)
        expect((await site.get('/a')).text).toBe('a')
        await until(() => rejections.length === 1)
        expect(rejections).toEqual([{ target: '/a', status: 403, why: 'unreached' }])
      },
      {},
      make,
    )
    unsubscribe('cattlegrid:refresh-rejected', note)
  })
})
