import { describe, expect, test } from '@jest/globals'
import express, { type Express, type Response } from 'express'
import express4 from 'express4'
import { gate, onSite } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

/** Methods of Express that report a failure to `req.next`, which the router has taken away by then. */
const LATE: readonly (readonly [string, (res: Response) => void])[] = [
  ['sendFile', (res) => res.sendFile(__filename)],
  ['download', (res) => res.download(__filename)],
  ['sendFile of a file that is not there', (res) => res.sendFile('/not/there')],
  ['sendFile of a path that is refused', (res) => res.sendFile('../up', { root: __dirname })],
  ['render of a view that is not there', (res) => res.render('nothing')],
]

describe.each(VERSIONS)('on %s', (_version, make) => {
  test.each(LATE)('a late %s after a 504 does not end the process, and the app goes on', async (_title, send) => {
    const [late, all] = [gate(), 20]
    const thrown: unknown[] = []
    await onSite(
      (app, cached) => {
        app.set('view engine', 'html').engine('html', () => undefined)
        app.get('/slow/:n', cached({ ttl: '10s', loadTimeout: '3s' }), async (_req, res) => {
          await late.opened
          // In a callback an error ends the process.
          setImmediate(() => {
            try {
              send(res)
            } catch (error) {
              thrown.push(error)
            }
          })
        })
        app.get('/other', (_req, res) => void res.send('other'))
      },
      async (site) => {
        // Whether the file is found before the response is seen to have ended is a race: some lose it.
        const asked = Promise.all(Array.from({ length: all }, (_none, n) => site.get(`/slow/${n}`)))
        await site.seen('load', all)
        await site.runtime.advance(3001)
        expect(new Set((await asked).map(({ status }) => status))).toEqual(new Set([504]))
        late.open()
        await new Promise((resolve) => setTimeout(resolve, 50))
        expect(thrown).toEqual([])
        expect((await site.get('/other')).text).toBe('other')
      },
      {},
      make,
    )
  })

  test('an error handler of the app that answers for the cache still passes its own error on', async () => {
    await onSite(
      (app, cached) => {
        app.set('view engine', 'html').engine('html', () => undefined)
        app.get('/slow', cached({ ttl: '10s', loadTimeout: '3s' }), () => undefined)
        const render: express.ErrorRequestHandler = (error, _req, res, _next) => {
          res.status((error as { status: number }).status).render('nothing')
        }
        const last: express.ErrorRequestHandler = (error, _req, res, _next) => {
          res.send((error as Error).message)
        }
        app.use(render, last)
      },
      async (site) => {
        const asked = site.get('/slow').then((answer) => answer)
        await site.seen('load', 1)
        await site.runtime.advance(3001)
        const { status, text } = await asked
        expect([status, text]).toEqual([504, expect.stringContaining('Failed to lookup view')])
      },
      {},
      make,
    )
  })
})
