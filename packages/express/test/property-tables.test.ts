import { createCache } from '@cattlegrid/core'
import { expect, test } from '@jest/globals'
import express from 'express'
import supertest from 'supertest'
import { hasPropertyTable, tablesPay } from '../../../test/support/property-tables.ts'
import { expressCache } from '../src/index.ts'

// A hidden class for each property of each request stays until a major collection: see docs/decisions/0013.
test('on Node 20 and 22, the properties of a recorded request and of its response are in tables', async () => {
  const cache = createCache()
  const app = express()
  app.get(
    '/',
    expressCache(cache)({ ttl: '1m' }),
    (req, res) => void res.json([hasPropertyTable(req), hasPropertyTable(res)]),
  )
  const { body } = await supertest(app).get('/')
  expect(body).toEqual([tablesPay, tablesPay])
  await cache.close()
})
