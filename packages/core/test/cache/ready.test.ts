import { describe, expect, it } from '@jest/globals'
import { rejection } from '../support/fleet.ts'
import { memoryCache } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

describe('ready', () => {
  it('resolves at once for a memory store, and once a shared store has answered', async () => {
    await expect(memoryCache().cache.ready()).resolves.toBeUndefined()
    await expect(new Remote().join().ready({ timeout: 0 })).resolves.toBeUndefined()
  })

  it.each(['refuses', 'does not answer'])('waits for a store that %s at first', async (state) => {
    const remote = new Remote()
    const cache = remote.join()
    if (state === 'refuses') remote.refuses = new Error('gone')
    else remote.freeze(true)
    let ready = false
    const waiting = cache.ready().then(() => (ready = true))
    await remote.runtime.advance(3000)
    expect(ready).toBe(false)
    remote.refuses = undefined
    remote.freeze(false)
    await remote.runtime.advance(1900)
    expect(await waiting).toBe(true)
  })

  it('rejects at the end of its timeout, with the error of the store', async () => {
    const remote = new Remote()
    remote.refuses = new Error('gone')
    const refused = rejection(remote.join().ready({ timeout: '1s' }))
    await remote.runtime.advance(1000)
    expect(await refused).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY', cause: remote.refuses })
  })

  it('rejects once the cache is closed', async () => {
    const remote = new Remote()
    remote.refuses = new Error('gone')
    const cache = remote.join()
    const refused = rejection(cache.ready())
    await cache.close()
    await remote.runtime.advance(200)
    expect(await refused).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })
})
