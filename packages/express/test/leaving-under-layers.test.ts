import { request } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import express, { type Express, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { gate, onSite, until } from './support/site.ts'

type End = (...args: unknown[]) => Response

/** A layer that replaces `end`. */
const replacingEnd =
  (replacement: (res: Response, end: End, args: unknown[]) => void): RequestHandler =>
  (_req, res, next) => {
    const end = res.end.bind(res) as End
    Reflect.set(res, 'end', (...args: unknown[]) => {
      replacement(res, end, args)
      return res
    })
    next()
  }

const naming = replacingEnd((res, end, args) => {
  res.setHeader('x-outside', 'yes')
  end(...args)
})
const delaying = replacingEnd((_res, end, args) => void setTimeout(end, 30, ...args))
const looking = replacingEnd((res, end, args) => {
  res.setHeader('x-client-left', String(res.req.destroyed))
  end(...args)
})
const appending = replacingEnd((res, end, args) => {
  const chunk = args.find((arg) => typeof arg === 'string' || Buffer.isBuffer(arg))
  const body = `${chunk?.toString() ?? ''} footer`
  res.setHeader('content-length', body.length)
  end(body)
})

const LAYERS: readonly (readonly [string, string, readonly RequestHandler[]])[] = [
  ['sets a field in its end', 'page', [naming]],
  ['looks in its end whether the client is there', 'page', [looking]],
  ['appends to its body', 'page footer', [appending]],
  ['delays its end', 'page', [delaying]],
  ['sets a field before another delays its end', 'page', [delaying, naming]],
  ['sets a field in an end that another has delayed', 'page', [naming, delaying]],
]

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

/** Sends a request that its client can leave. */
function leader(port: number): { leave(): void } {
  const sent = request({ host: '127.0.0.1', port, path: '/a', agent: false }).on('error', () => undefined)
  sent.end()
  return { leave: () => void sent.destroy() }
}

describe.each(VERSIONS)('on %s, requests that wait for a leader whose client leaves get its response', (_v, make) => {
  test.each(LAYERS)('where a layer outside %s', async (_what, body, layers) => {
    const [{ opened, open }, thrown] = [gate(), [] as unknown[]]
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(...layers)
        app.get('/a', cached({ ttl: '10s' }), async (_req, res) => {
          runs += 1
          await opened
          try {
            res.send('page')
          } catch (error) {
            thrown.push(error)
          }
        })
      },
      async (site) => {
        const { leave } = leader(site.port)
        await site.seen('load', 1)
        const asked = site.crowd(2, '/a')
        await site.seen('join', 2)
        leave()
        // The server sees it by then.
        await new Promise((resolve) => setTimeout(resolve, 50))
        open()
        expect((await asked).map(({ text }) => text)).toEqual([body, body])
        expect([thrown, runs]).toEqual([[], 1])
      },
      {},
      make,
    )
  })
})

describe.each(VERSIONS)('on %s, requests that wait for a leader', (_version, make) => {
  test('lead themselves where its client leaves while a layer outside delays its end', async () => {
    const [{ opened, open }, ends] = [gate(), [] as (() => void)[]]
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(
          replacingEnd((_res, end, args) => {
            if (runs === 1) ends.push(() => end(...args))
            else end(...args)
          }),
        )
        app.get('/a', cached({ ttl: '10s' }), async (_req, res) => {
          runs += 1
          await opened
          res.send(`run ${runs}`)
        })
      },
      async (site) => {
        const { leave } = leader(site.port)
        await site.seen('load', 1)
        const asked = site.crowd(2, '/a')
        await site.seen('join', 2)
        open()
        await until(() => ends.length === 1)
        leave()
        expect((await asked).map(({ text }) => text)).toEqual(['run 2', 'run 2'])
        for (const end of ends) end()
      },
      {},
      make,
    )
  })
})
