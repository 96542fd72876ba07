import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { Origin } from '../../support/fleet.ts'
import { never } from '../../support/memory-cache.ts'
import { Remote } from '../../support/remote.ts'

let remote: Remote
let cache: Cache

beforeEach(async () => {
  remote = new Remote()
  cache = remote.join()
  await cache.set('hot', 'kept')
  await cache.get('hot')
})

describe('while a part of the store is away', () => {
  it('a key there has one load, however often the store answers about other keys', async () => {
    remote.lost = ['cold']
    const origin = new Origin()
    const first = cache.getOrSet('cold', origin.loader)
    await remote.runtime.advance(0)
    await cache.get('hot')
    const second = cache.getOrSet('cold', origin.loader)
    await remote.runtime.advance(0)
    origin.last.resolve('loaded')
    expect([await first, await second]).toEqual(['loaded', 'loaded'])
    for (let round = 0; round < 10; round += 1) {
      await cache.get('hot')
      expect(await cache.lookup('cold', never)).toMatchObject({ value: 'loaded', from: 'outage' })
    }
    expect(origin.count).toBe(1)
  })

  it('one read without an answer leaves the copies of other keys as they are', async () => {
    await cache.set('other', 'kept too')
    await cache.get('other')
    remote.lost = ['hot']
    await cache.get('hot')
    remote.lost = []
    await cache.get('hot')
    remote.refuses = new Error('connection refused')
    expect([await cache.get('hot'), await cache.get('other')]).toEqual(['kept', 'kept too'])
  })
})
