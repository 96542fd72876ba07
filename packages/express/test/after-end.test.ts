import { expect, test } from '@jest/globals'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import express4 from 'express4'
import { onSite } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

/** What a handler, or the error handler that it calls, does with a response that has ended. */
const LATE: readonly (readonly [string, (res: Response) => void])[] = [
  ['ends it again', (res) => void res.status(500).end('late')],
  ['writes', (res) => void res.write('late')],
  ['ends it again without a body', (res) => void res.end()],
]

const CASES = VERSIONS.flatMap(([version, make]) => LATE.map(([what, late]) => ({ version, what, make, late })))

/** Nobody listens for `error` of a response: an event of that name would end the process, and here fails the test. */
test.each(CASES)(
  'on $version, a handler that throws after its end, and whose error handler $what, changes nothing',
  async ({ make, late }) => {
    await onSite(
      (app, cached) => {
        app.get('/:cacheControl', cached({ ttl: '1m' }), async ({ params }, res, next) => {
          res.set('Cache-Control', params.cacheControl).send('page')
          await Promise.resolve()
          next(new Error('late'))
        })
        app.use((_error: unknown, _req: Request, res: Response, _next: NextFunction) => late(res))
      },
      async ({ crowd, count }) => {
        // The clients of a response that is never stored wait for each other once, and then all run their handlers.
        for (const path of ['/public', '/private'])
          for (const { status, text } of await crowd(3, path)) expect([status, text]).toEqual([200, 'page'])
        expect(count('commit')).toBe(1)
      },
      {},
      make,
    )
  },
)

test.each(VERSIONS)('on %s, a callback and a listener get the error of what comes after the end', async (_, make) => {
  const codes: unknown[] = []
  const note = (error?: Error | null): void => void codes.push(Reflect.get(error ?? {}, 'code'))
  await onSite(
    (app, cached) => {
      app.get('/page', cached({ ttl: '1m' }), (_req, res) => {
        res.on('error', note).send('page')
        res.write('late', note)
      })
    },
    async ({ get }) => {
      expect((await get('/page')).text).toBe('page')
    },
    {},
    make,
  )
  expect(codes).toEqual(['ERR_STREAM_WRITE_AFTER_END', 'ERR_STREAM_WRITE_AFTER_END'])
})
