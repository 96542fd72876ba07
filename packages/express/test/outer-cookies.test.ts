import { describe, expect, test } from '@jest/globals'
import type { RequestHandler } from 'express'
import supertest from 'supertest'
import { onSite } from './support/site.ts'

/** What a session does: its cookie is set at the last moment, while the head goes down. */
const lateField =
  (name: string, value: (user: string) => string): RequestHandler =>
  (req, res, next) => {
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res
    res.writeHead = ((...args: unknown[]) => {
      res.setHeader(name, value(String(req.headers['x-user'])))
      return writeHead(...args)
    }) as typeof res.writeHead
    next()
  }

const asked = async (port: number, user: string): Promise<supertest.Response> =>
  supertest(`http://127.0.0.1:${port}`).get('/a').set('x-user', user)

describe('what a layer outside adds while the head goes down', () => {
  test.each([
    ['a cookie', 'set-cookie', (user: string) => `session=${user}`],
    ['no-store', 'cache-control', () => 'private, no-store'],
  ])('keeps the answer from everybody else: %s', async (_, name, value) => {
    await onSite(
      (app, cached) => {
        app.use(lateField(name, value))
        app.get('/a', cached({ ttl: '1m' }), (req, res) => void res.send(`for ${String(req.headers['x-user'])}`))
      },
      async ({ port }) => {
        expect((await asked(port, 'ann')).text).toBe('for ann')
        expect((await asked(port, 'bob')).text).toBe('for bob')
      },
    )
  })
})

describe('a head that is written with two lists of fields', () => {
  test.each([{}, false])('is judged by the one that Node sends, not by %p', async (ignored) => {
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (req, res) => {
          const user = String(req.headers['x-user'])
          const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res
          writeHead(200, ignored, { 'set-cookie': `user=${user}` })
          res.end(`for ${user}`)
        })
      },
      async ({ port }) => {
        const ann = await asked(port, 'ann')
        expect(ann.headers['set-cookie']).toEqual(['user=ann'])
        expect((await asked(port, 'bob')).text).toBe('for bob')
      },
    )
  })
})
