import express, { type Express } from 'express'
import express4 from 'express4'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { describe, expect, test } from '@jest/globals'
import supertest from 'supertest'
import { expressCache, isRefresh } from '../src/index.ts'

/** A shop in a router that is mounted, whose pages say how they see their URL. Asks twice, with a refresh behind the second answer. */
async function seenAt(make: typeof express, target: string): Promise<readonly string[]> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const cached = expressCache(cache)({ ttl: '1h', staleWhileRevalidate: '1h' })
  const [app, router]: readonly [Express, ReturnType<typeof express.Router>] = [make(), make.Router()]
  for (const path of ['/', '/item/:id', '/list/'])
    router.get(path, cached, (req, res) => {
      res.send([req.originalUrl, req.url, req.baseUrl, isRefresh(req)].join(' '))
    })
  const tenants = make.Router()
  tenants.use('/Shop', router)
  app.use('/shop', router)
  app.use('/at/:tenant', router)
  app.use('/in', tenants)
  const get = async (): Promise<string> => (await supertest(app).get(target).set('host', 'shop.example')).text
  let commits = 0
  const refreshed = new Promise((resolve) => {
    cache.on('commit', () => (commits += 1) === 2 && resolve(undefined))
  })
  try {
    const led = await get()
    await runtime.advance(3_600_001)
    await get()
    await refreshed
    return [led, await get()]
  } finally {
    const end = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await end
  }
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('inside a mounted router of %s', (_, make) => {
  test.each([
    ['/Shop/Item/%41/?', '/shop/item/A /item/A /shop'],
    ['/shop/item/a?b&a', '/shop/item/a?b&a /item/a?b&a /shop'],
    ['/SHOP/', '/shop / /shop'],
    ['/shop?', '/shop / /shop'],
    ['/shop/list', '/shop/list/ /list/ /shop'],
    ['/IN/shop/list', '/in/Shop/list/ /list/ /in/Shop'],
    ['/at/Acme/list', '/at/Acme/list/ /list/ /at/Acme'],
  ])('%s is seen as %s, by its own handler or a subrequest, and by a refresh', async (target, urls) => {
    const isKeyed = target.split('?')[0] === urls.split(/[ ?]/)[0]
    expect(await seenAt(make, target)).toEqual([`${urls} ${!isKeyed}`, `${urls} true`])
  })
})
