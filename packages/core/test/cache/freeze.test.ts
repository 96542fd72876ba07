import { describe, expect, it } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { Remote } from '../support/remote.ts'

interface Product {
  name: string
  readonly tags: string[]
  self?: unknown
}
const product = (): Product => ({ name: 'grid', tags: ['new'] })

describe('freeze', () => {
  it('makes the values of a memory store read-only, at every depth', async () => {
    const cache = createCache({ runtime: createManualRuntime(), ttl: '1m', freeze: true })
    const value = await cache.getOrSet('k', product)
    expect(() => (value.name = 'other')).toThrow(TypeError)
    expect(() => value.tags.push('other')).toThrow(TypeError)
    await cache.set('k2', product())
    const set = await cache.get<Product>('k2')
    expect(() => set?.tags.push('other')).toThrow(TypeError)
  })

  it('makes near copies read-only', async () => {
    const remote = new Remote()
    const cache = remote.join({ freeze: true, near: {} })
    await remote.join().set('k', product())
    await cache.get('k')
    const near = await cache.get<Product>('k')
    expect(() => near?.tags.push('other')).toThrow(TypeError)
  })

  it('freezes what lies inside an object that the loader froze itself', async () => {
    const cache = createCache({ runtime: createManualRuntime(), ttl: '1m', freeze: true })
    const value = await cache.getOrSet('k', () => Object.freeze({ product: product() }))
    expect(() => value.product.tags.push('other')).toThrow(TypeError)
  })

  it('is off by default', async () => {
    const cache = createCache({ runtime: createManualRuntime(), ttl: '1m' })
    const value = await cache.getOrSet('k', product)
    value.name = 'other'
    expect(await cache.get('k')).toMatchObject({ name: 'other' })
  })

  it('ends on cyclic values, and leaves values alone that are no plain data', async () => {
    const cache = createCache({ runtime: createManualRuntime(), ttl: '1m', freeze: true })
    const value = { ...product(), bytes: Buffer.from('grid'), seen: new Set([1]), at: new Date(0), none: undefined }
    value.self = value
    const kept = await cache.getOrSet('k', () => value)
    kept.bytes[0] = 71
    kept.seen.add(2)
    expect([Object.isFrozen(kept), kept.bytes.toString(), kept.seen.size]).toEqual([true, 'Grid', 2])
  })

  it('counts a value that cannot be made read-only as a failed load, and frees its key', async () => {
    const runtime = createManualRuntime()
    const cache = createCache({ runtime, ttl: '1m', freeze: true, failureCooldown: { min: 1, max: 1 } })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    await expect(cache.getOrSet('k', () => ({ proxy }))).rejects.toThrow(TypeError)
    await runtime.advance(1)
    const next = cache.getOrSet('k', () => 'value')
    await runtime.advance(0)
    expect(await Promise.race([next, Promise.resolve('waits')])).toBe('value')
  })

  it('calls no getter', async () => {
    const cache = createCache({ runtime: createManualRuntime(), ttl: '1m', freeze: true })
    const value = {
      get never(): never {
        throw new Error('called')
      },
    }
    expect(await cache.getOrSet('k', () => value)).toBe(value)
  })
})
