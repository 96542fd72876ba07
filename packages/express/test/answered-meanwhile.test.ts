import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Cache } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { describe, expect, test } from '@jest/globals'
import express, { type Express, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import supertest, { type Test } from 'supertest'
import { hangingReads } from '../../../test/support/hanging-reads.ts'
import { gate, onSite, type Site, until } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

const post = ({ server }: Site, path: string): Test => supertest(server).post(path)

/** A layer outside that answers for a handler that takes too long. */
function impatient(): { readonly layer: RequestHandler; readonly timeOut: () => void } {
  let waiting: Response | undefined
  return {
    layer: (_req, res, next) => {
      waiting = res
      next()
    },
    timeOut: () => {
      if (waiting?.headersSent === false) waiting.status(503).send('too slow')
    },
  }
}

describe.each(VERSIONS)('on %s', (_, make) => {
  test('what a POST is given to end with by mistake is an error of its handler', async () => {
    await onSite(
      (app, cached) => {
        app.use(cached())
        app.post('/echo', express.json(), (req, res) => {
          const { text } = req.body as { text: string }
          res.end(text)
        })
      },
      async (site) => {
        expect((await post(site, '/echo').send({ text: 5 })).status).toBe(500)
        expect((await post(site, '/echo').send({ text: 'five' })).text).toBe('five')
      },
      {},
      make,
    )
  })

  test('a layer outside that loses its patience while a POST invalidates sees that it is answered', async () => {
    const [asked, answered] = [gate(), gate()]
    const { layer, timeOut } = impatient()
    const slow = (cache: Cache): void => {
      cache.invalidateTags = async () => {
        asked.open()
        await answered.opened
      }
    }
    await onSite(
      (app, cached) => {
        app.use(layer, cached())
        app.post('/a', (_req, res) => void res.status(201).send('done'))
      },
      async (site) => {
        slow(site.cache)
        const answer = post(site, '/a').then(({ status, text }) => [status, text])
        await asked.opened
        timeOut()
        answered.open()
        expect(await answer).toEqual([201, 'done'])
      },
      {},
      make,
    )
  })

  test.each([
    ['lets in', true],
    ['refuses', false],
    ['lets in, where the cache is closed', 'closed'],
  ])('the answer of a layer outside stays while the purge endpoint %s', async (_title, how) => {
    const { layer, timeOut } = impatient()
    const done = gate()
    await onSite(
      (app, cached) => {
        app.use(layer)
        const authorize = (): boolean => {
          timeOut()
          setImmediate(done.open)
          return how !== false
        }
        app.post('/purge', cached.purge({ authorize }))
      },
      async (site) => {
        if (how === 'closed') await site.cache.close({ drain: 0 })
        const { status, text } = await post(site, '/purge?tag=a')
        expect([status, text]).toEqual([503, 'too slow'])
        await done.opened
      },
      {},
      make,
    )
  })
})

test('an answer of the purge endpoint that a layer outside refuses is an error of the app', async () => {
  await onSite(
    (app, cached) => {
      app.use((_req, res, next) => {
        const writeHead = res.writeHead.bind(res)
        res.writeHead = (status: number) => {
          if (status === 204) throw new Error('nothing is no answer')
          return writeHead(status)
        }
        next()
      })
      app.post('/purge', cached.purge({ authorize: () => true }))
    },
    async (site) => {
      expect((await post(site, '/purge?tag=a')).status).toBe(500)
    },
  )
})

test('an answer that a layer outside begins past the recording is left to it, also when the load takes too long', async () => {
  let begin = (): void => undefined
  let end = (): void => undefined
  await onSite(
    (app, cached) => {
      app.use((_req, res, next) => {
        const own = { writeHead: res.writeHead.bind(res), write: res.write.bind(res), end: res.end.bind(res) }
        begin = () => {
          own.writeHead(503)
          own.write('too ')
        }
        end = () => void own.end('slow')
        next()
      })
      app.get('/a', cached({ ttl: '1m', loadTimeout: '3s' }), () => undefined)
    },
    async (site) => {
      const asked = request(`http://127.0.0.1:${site.port}/a`).end()
      await site.seen('load', 1)
      begin()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      let received = ''
      answer.on('data', (chunk: Buffer) => (received += chunk.toString())).on('error', () => undefined)
      await site.runtime.advance(3001)
      await site.seen('outcome', 1)
      await new Promise((resolve) => setImmediate(resolve))
      end()
      await once(answer, 'close')
      expect(received).toBe('too slow')
    },
  )
})

test('an answer that a layer outside begins while a store is asked for what is stored is left to it', async () => {
  const runtime = createManualRuntime()
  const { store, count } = hangingReads(runtime)
  let answering: Response | undefined
  await onSite(
    (app, cached) => {
      app.use((_req, res, next) => {
        answering = res
        next()
      })
      app.get('/a', cached({ ttl: '1m', clientDirectives: () => true }), (_req, res) => void res.send('a'))
    },
    async (site) => {
      const headers = { 'cache-control': 'only-if-cached' }
      const asked = request(`http://127.0.0.1:${site.port}/a`, { headers }).end()
      await until(() => count() === 1)
      answering?.status(503).write('too ')
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      let received = ''
      answer.on('data', (chunk: Buffer) => (received += chunk.toString())).on('error', () => undefined)
      await runtime.advance(60_000)
      await new Promise((resolve) => setImmediate(resolve))
      answering?.end('slow')
      await once(answer, 'close')
      expect(received).toBe('too slow')
    },
    { runtime, store },
  )
})
