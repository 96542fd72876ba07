import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import express, { Router } from 'express'
import express4 from 'express4'

const boom = (): never => {
  throw new Error('boom')
}

/** The answers of an app whose handlers leave the answer to Express: no error handler, and no route behind. */
async function statusesOf(make: typeof express): Promise<readonly number[]> {
  const cached = expressCache(createCache({ failureCooldown: { min: 10, max: 10 } }))
  const app = make()
  app.set('env', 'test')
  app.get('/throws', cached({ ttl: '1m' }), boom)
  app.get('/leaves', cached({ ttl: '1m' }), (_req, _res, next) => next())
  app.get('/unshared', cached(), boom)
  const router = Router()
  router.get('/throws', cached({ ttl: '1m' }), boom)
  router.get('/leaves', cached({ ttl: '1m' }), (_req, _res, next) => next())
  app.use('/m', router)
  app.use('/app', cached(), boom)
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const statuses: number[] = []
  for (const path of ['/throws', '/leaves', '/unshared', '/m/throws', '/m/leaves', '/app/any'])
    statuses.push((await fetch(`http://127.0.0.1:${port}${path}`)).status)
  server.close()
  server.closeAllConnections()
  return statuses
}

test.each([
  ['5', express],
  ['4', express4],
])('what is left to the final handler of Express %s gets its answer, and ends no process', async (_, make) => {
  expect(await statusesOf(make)).toEqual([500, 404, 500, 500, 404, 500])
})
