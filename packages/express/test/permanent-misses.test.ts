import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import express from 'express'
import request from 'supertest'

let warnings: string[]

beforeEach(() => {
  warnings = []
  jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)))
})
afterEach(() => {
  jest.restoreAllMocks()
})

/** Asks three times; returns how often the handler ran. */
async function runs(options: object, cacheOptions: object = {}): Promise<number> {
  const cache = createCache(cacheOptions)
  const cached = expressCache(cache)
  let count = 0
  const app = express()
  app.get('/page', cached(options), (_req, res) => {
    count += 1
    res.send('page')
  })
  for (let ask = 0; ask < 3; ask += 1) await request(app).get('/page').expect(200, 'page')
  await cache.close()
  return count
}

// Those that are told are in the list of misuses.
describe('a route that can never store a response', () => {
  it.each<readonly [string, object, RegExp]>([
    ['tags that return nothing', { tags: () => undefined }, /^cached\.tags returned undefined/],
    ['a ttl that is a promise', { ttl: () => Promise.resolve('30s') }, /^cached\.ttl returned a promise/],
    ['a key.extra that is a number', { key: { extra: () => 7 } }, /^cached\.key\.extra returned a number.*a text/],
    ['tags whose promise rejects', { tags: () => Promise.reject(new Error('no')) }, /^cached\.tags returned a promise/],
  ])('is told once: %s', async (_, options, told) => {
    expect(await runs({ ttl: '1m', ...options })).toBe(3)
    expect(warnings).toEqual([expect.stringMatching(told)])
  })

  it.each<readonly [string, object, object]>([
    ['a ttl that says not to store', { ttl: () => 0 }, {}],
    ['a ttl that says nothing', { ttl: () => undefined }, {}],
    ['a key.extra that says to bypass', { ttl: '1m', key: { extra: () => undefined } }, {}],
    ["the ttl 'origin'", { ttl: 'origin' }, { ttl: '30s' }],
  ])('is not told where the application says so: %s', async (_, options, cacheOptions) => {
    expect(await runs(options, cacheOptions)).toBe(3)
    expect(warnings).toEqual([])
  })
})
