import type { RequestHandler } from 'express'
import { describe, expect, test } from '@jest/globals'
import { onSite } from './support/site.ts'

const cache = { ttl: '1s', cacheStatus: true } as const

/** As session middlewares do it: the cookie is set when the head goes down. */
const session: RequestHandler = (_req, res, next) => {
  const { writeHead } = res as Readonly<Record<'writeHead', (...args: unknown[]) => unknown>>
  Object.assign(res, {
    writeHead(...args: unknown[]) {
      res.setHeader('set-cookie', 'sid=1')
      return Reflect.apply(writeHead, res, args)
    },
  })
  next()
}

describe('a condition of the one whose own handler runs', () => {
  test('is met by the entity-tag that is made for what Node sends without one, whichever way it was written', async () => {
    await onSite(
      (app, cached) => {
        app.get('/implicit', cached(cache), (_req, res) => void res.end('one'))
        app.get(
          '/explicit',
          cached(cache),
          (_req, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end('one'),
        )
      },
      async ({ get, seen, runtime }) => {
        await get('/implicit')
        await seen('commit', 1)
        const { etag } = (await get('/implicit')).headers as { readonly etag: string }
        await runtime.advance(1001)
        const leader = await get('/implicit').set('if-none-match', etag)
        expect([leader.status, leader.headers['etag'], leader.headers['content-length']]).toEqual([
          304,
          etag,
          undefined,
        ])
        // Its head was out before there was a body to make a tag of.
        expect((await get('/explicit').set('if-none-match', etag)).status).toBe(200)
      },
    )
  })

  test('leaves what layers outside do with the head to them: a session’s cookie is set, and keeps the answer from everybody else', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(session)
        app.get('/a', cached(cache), (_req, res) => {
          runs += 1
          res.set('etag', '"a"').send(`run ${runs}`)
        })
      },
      async ({ get }) => {
        const leader = await get('/a').set('if-none-match', '"a"')
        expect([leader.status, leader.headers['set-cookie']]).toEqual([304, ['sid=1']])
        expect((await get('/a')).text).toBe('run 2')
      },
    )
  })
})
