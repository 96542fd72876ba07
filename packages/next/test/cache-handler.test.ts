import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type NextCacheEntry, nextCacheHandler, nextIsrHandler } from '../src/index.ts'
import { answerOf, Fleet, now, pathOf, rendered, textIn } from './support/fleet.ts'

let fleet: Fleet

beforeEach(() => {
  fleet = new Fleet()
})

describe("the handler of 'use cache'", () => {
  it('gives each reader a stream of its own, with the bytes that were rendered', async () => {
    const handler = fleet.process()
    await handler.get('key', [])
    await handler.set('key', rendered('seven'))
    expect([await textIn(handler, 'key'), await textIn(fleet.process(), 'key')]).toEqual(['seven', 'seven'])
  })

  it('has all others wait for the process that renders', async () => {
    const [leader, other] = [fleet.process(), fleet.process()]
    expect(await leader.get('key', [])).toBeUndefined()
    const waiting = [leader, other, other].map((handler) => textIn(handler, 'key'))
    await leader.set('key', rendered('seven'))
    await fleet.runtime.advance(10)
    expect(await Promise.all(waiting)).toEqual(['seven', 'seven', 'seven'])
  })

  it('has one process refresh a stale entry, and shows it to the others as one that needs no refresh', async () => {
    const [leader, other] = [fleet.process(), fleet.process()]
    await leader.get('key', [])
    await leader.set('key', rendered('old', { revalidate: 1, tags: ['product'] }))
    await fleet.runtime.advance(2000)
    const refreshing = await leader.get('key', [])
    const served = await other.get('key', [])
    const freshFor = (entry: NextCacheEntry | undefined): number =>
      entry === undefined ? Number.NaN : entry.timestamp + entry.revalidate * 1000 - now()
    expect(freshFor(refreshing)).toBeLessThan(0)
    // At least as long as the lead.
    expect(freshFor(served)).toBeGreaterThan(1500)
  })

  it.each([
    ['a minute', { expire: 60 }],
    ['a year', { expire: 365 * 86_400 }],
    ['as long as it lasts', {}],
  ])('refreshes an entry that a tag has made stale for %s, whatever its age', async (_time, durations) => {
    const [handler, other] = [fleet.process(), fleet.process()]
    await handler.get('key', [])
    await handler.set('key', rendered('old', { tags: ['product'] }))
    await other.updateTags(['product'], durations)
    expect((await handler.get('key', []))?.revalidate).toBe(-1)
  })

  it('ends the use of a stale entry when its invalidation says so', async () => {
    const [handler, other] = [fleet.process(), fleet.process()]
    await handler.get('key', [])
    await handler.set('key', rendered('old', { tags: ['product'] }))
    await other.updateTags(['product'], { expire: 60 })
    await fleet.runtime.advance(59_000)
    expect(await textIn(handler, 'key')).toBe('old')
    await fleet.runtime.advance(3000)
    expect(await textIn(other, 'key')).toBeUndefined()
  })

  it('forgets an entry whose tag was invalidated, also one of more tags than a cache takes', async () => {
    const handler = fleet.process()
    const tags = Array.from({ length: 128 }, (_, index) => `tag:${index}`)
    for (const tag of ['tag:0', 'tag:127', 't'.repeat(300)]) {
      await handler.get(tag, [])
      await handler.set(tag, rendered('old', { tags: [...tags, 't'.repeat(300)] }))
      expect(await textIn(handler, tag)).toBe('old')
      await fleet.process().updateTags([tag])
      expect(await textIn(fleet.process(), tag)).toBeUndefined()
    }
  })

  it('sends one invalidation for that which Next tells to the handlers of both kinds', async () => {
    const cache = fleet.cache()
    const sent = jest.spyOn(fleet.store, 'invalidateTags')
    const pages = new (nextIsrHandler(cache))({})
    await Promise.all([pages.revalidateTag('product'), nextCacheHandler(cache).updateTags(['product'])])
    expect(sent).toHaveBeenCalledTimes(1)
  })

  it('stores nothing of a render that began before its tag was invalidated', async () => {
    const [slow, other] = [fleet.process(), fleet.process()]
    await slow.get('key', [])
    const entry = rendered('old', { tags: ['product'] })
    await other.updateTags(['product'])
    await slow.set('key', entry)
    expect(await textIn(other, 'key')).toBeUndefined()
  })

  it.each([
    ['its tag', 'product', []],
    ['the path', pathOf('/a'), [pathOf('/a')]],
  ])('gives nobody who asks after an invalidation of %s a render that began before', async (_what, tag, softTags) => {
    const [slow, other] = [fleet.process(), fleet.process()]
    await slow.get('key', softTags)
    const entry = rendered('old', { tags: ['product'] })
    await other.updateTags([tag])
    const waiting = [slow, other].map((handler) => textIn(handler, 'key', softTags))
    await fleet.runtime.advance(10)
    await slow.set('key', entry)
    await fleet.runtime.advance(100)
    const leads = await Promise.all(waiting.map(answerOf))
    expect(leads).not.toContain('old')
    await Promise.all([slow, other].map((handler) => handler.set('key', rendered('new', { tags: ['product'] }))))
    expect(new Set(await Promise.all(waiting.map((one) => fleet.passing(one))))).toEqual(new Set([undefined, 'new']))
  })

  it('stores the entry of a root parameter before the one that points to it', async () => {
    const [handler, other] = [fleet.process(), fleet.process()]
    await handler.get('key', [])
    const waiting = other.get('key', []).then(() => textIn(other, 'key[lang]'))
    const slow = new TransformStream<Uint8Array, Uint8Array>()
    const sets = [handler.set('key[lang]', rendered('', { value: slow.readable })), handler.set('key', rendered('.'))]
    await fleet.runtime.advance(100)
    const writer = slow.writable.getWriter()
    await writer.write(Buffer.from('English'))
    await writer.close()
    await Promise.all(sets)
    expect(await fleet.passing(waiting)).toBe('English')
  })

  it('stores nothing of a process that has lost its lead, or never had one', async () => {
    const [slow, other] = [fleet.process(), fleet.process()]
    await slow.get('key', [])
    const entry = rendered('old')
    await fleet.runtime.advance(11_000)
    await other.get('key', [])
    await other.set('key', rendered('new'))
    await slow.set('key', entry)
    expect(await textIn(other, 'key')).toBe('new')
  })

  it('stores a render under the lead that it began with, not under a later one of its process', async () => {
    const handler = fleet.process()
    await handler.get('key', [])
    const entry = rendered('old')
    await fleet.runtime.advance(11_000)
    await handler.get('key', [])
    await handler.set('key', entry)
    await handler.set('key', rendered('new'))
    expect(await textIn(fleet.process(), 'key')).toBe('new')
  })

  it('stores no render without a lead that began too long ago to know what came before', async () => {
    const handler = fleet.process()
    await handler.set('key', rendered('old', { timestamp: now() - 61_000 }))
    expect(await handler.get('key', [])).toBeUndefined()
  })

  it('ends a lead that nobody ends after three times the last render, at least two seconds', async () => {
    const [lost, other] = [fleet.process(), fleet.process()]
    await lost.get('key', [])
    await lost.set('key', rendered('old', { tags: ['product'] }))
    await other.updateTags(['product'])
    await lost.get('key', [])
    const next = other.get('key', []).then(() => 'leads')
    await fleet.runtime.advance(1900)
    expect(await answerOf(next)).toBe('waits')
    await fleet.runtime.advance(200)
    expect(await answerOf(next)).toBe('leads')
  })

  it('writes what was rendered on demand, for which nobody asked', async () => {
    const handler = fleet.process()
    await handler.get('key', [])
    await handler.set('key', rendered('old'))
    await fleet.process().set('key', rendered('new'))
    expect(await textIn(handler, 'key')).toBe('new')
  })

  it('stores no entry that is too large or dynamic, and has nobody wait for one', async () => {
    const [handler, other] = [fleet.process(), fleet.process()]
    const renders = [() => rendered('x'.repeat(101)), () => rendered('', { expire: 0 })]
    for (const [index, render] of renders.entries()) {
      const key = `key:${index}`
      await handler.get(key, [])
      const waiting = other.get(key, [])
      await handler.set(key, render())
      await fleet.runtime.advance(100)
      expect(await answerOf(waiting)).toBeUndefined()
    }
  })

  it('takes odd windows and tags as Next does: an entry that ends before it is stale, and an empty tag', async () => {
    const handler = fleet.process()
    await handler.get('key', [])
    await handler.set('key', rendered('seven', { revalidate: 60, expire: 30, tags: ['', 'product'] }))
    await handler.updateTags([''])
    expect(await textIn(handler, 'key')).toBe('seven')
  })

  it('stores nothing of a stream that failed, and does not reject', async () => {
    const handler = fleet.process()
    await handler.get('key', [])
    const value = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('down')) })
    await handler.set('key', rendered('', { value }))
    await fleet.runtime.advance(11_000)
    expect(await handler.get('key', [])).toBeUndefined()
  })

  it('does nothing while Next builds, and makes no cache then', async () => {
    const make = (): never => {
      throw new Error('made')
    }
    const handler = nextCacheHandler(make)
    process.env['NEXT_PHASE'] = 'phase-production-build'
    try {
      expect(await handler.get('key', [])).toBeUndefined()
      await handler.set('key', rendered('seven'))
      await handler.updateTags(['product'])
    } finally {
      delete process.env['NEXT_PHASE']
    }
    await expect(handler.get('key', [])).rejects.toThrow('made')
  })
})
