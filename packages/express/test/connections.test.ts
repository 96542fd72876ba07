import { describe } from '@jest/globals'
import express from 'express'
import express4 from 'express4'
import { describeConnections } from '../../../test/connections.ts'
import { onSite } from './support/site.ts'

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('with %s', (_version, make) => {
  describeConnections((page, play) =>
    onSite(
      (app, cached) => {
        app.get('/:page', cached({ ttl: '1m' }), async ({ path }, res) => {
          const { body, streamed = false, hangsUp = false, fields = {} } = await page(path)
          if (hangsUp) return void res.destroy()
          res.set(fields)
          if (!streamed) return void res.send(body)
          res.write(body.slice(0, 3))
          setImmediate(() => res.end(body.slice(3)))
        })
      },
      play,
      {},
      make,
    ),
  )
})
