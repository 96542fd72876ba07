import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createCache } from '@cattlegrid/core'
import { expect, test } from '@jest/globals'
import express from 'express'
import supertest from 'supertest'
import { expressCache } from '../src/index.ts'

setFlagsFromString('--allow-natives-syntax')
const hasTable = runInNewContext('(object) => !%HasFastProperties(object)') as (object: object) => boolean

// A hidden class for each property of each request stays until a major collection: see docs/decisions/0013.
test('on Node 20 and 22, the properties of a recorded request and of its response are in tables', async () => {
  const cache = createCache()
  const app = express()
  app.get('/', expressCache(cache)({ ttl: '1m' }), (req, res) => void res.json([hasTable(req), hasTable(res)]))
  const { body } = await supertest(app).get('/')
  const expected = Number.parseInt(process.versions.v8, 10) < 13
  expect(body).toEqual([expected, expected])
  await cache.close()
})
