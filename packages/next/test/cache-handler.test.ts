import { createCache, memoryStore, type Store } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type NextCacheEntry, nextCacheHandler, type NextCacheHandler, nextIsrHandler } from '../src/index.ts'

let runtime: ManualRuntime
let store: Store

beforeEach(() => {
  runtime = createManualRuntime()
  store = memoryStore({ runtime })
})

/** The handler of one process. */
const process = (): NextCacheHandler => nextCacheHandler(createCache({ store, runtime }), { maxBytes: 100 })

const now = (): number => performance.timeOrigin + performance.now()

function rendered(text: string, { tags = [], ...windows }: Partial<NextCacheEntry> = {}): Promise<NextCacheEntry> {
  const value = new Blob([text]).stream() as unknown as ReadableStream<Uint8Array>
  return Promise.resolve({ value, tags, stale: 300, timestamp: now(), expire: 600, revalidate: 60, ...windows })
}

async function textOf(entry: NextCacheEntry | undefined): Promise<string | undefined> {
  return entry && (await new Response(entry.value).text())
}

/** What a process has, when it needs not wait for it. */
async function textIn(handler: NextCacheHandler, key: string, softTags: string[] = []): Promise<string | undefined> {
  return await textOf(await handler.get(key, softTags))
}

/** What a promise has resolved to by now. */
async function answerOf<T>(promise: Promise<T>): Promise<T | 'waits'> {
  await new Promise((resolve) => setImmediate(resolve))
  return await Promise.race([promise, Promise.resolve('waits' as const)])
}

/** Lets time pass until the promise settles. */
async function passing<T>(promise: Promise<T>): Promise<T> {
  const steps = Promise.resolve().then(async () => {
    for (let step = 0; step < 500; step += 1) await runtime.advance(20)
    throw new Error('It has not settled')
  })
  return await Promise.race([promise, steps])
}

const pathOf = (path: string): string => `_N_T_${path}`

describe("the handler of 'use cache'", () => {
  it('gives each reader a stream of its own, with the bytes that were rendered', async () => {
    const handler = process()
    await handler.get('key', [])
    await handler.set('key', rendered('seven'))
    expect([await textIn(handler, 'key'), await textIn(process(), 'key')]).toEqual(['seven', 'seven'])
  })

  it('has all others wait for the process that renders', async () => {
    const [leader, other] = [process(), process()]
    expect(await leader.get('key', [])).toBeUndefined()
    const waiting = [leader, other, other].map((handler) => textIn(handler, 'key'))
    await leader.set('key', rendered('seven'))
    await runtime.advance(10)
    expect(await Promise.all(waiting)).toEqual(['seven', 'seven', 'seven'])
  })

  it('has one process refresh a stale entry, and shows it to the others as one that needs no refresh', async () => {
    const [leader, other] = [process(), process()]
    await leader.get('key', [])
    await leader.set('key', rendered('old', { revalidate: 1, tags: ['product'] }))
    await runtime.advance(2000)
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
    const [handler, other] = [process(), process()]
    await handler.get('key', [])
    await handler.set('key', rendered('old', { tags: ['product'] }))
    await other.updateTags(['product'], durations)
    expect((await handler.get('key', []))?.revalidate).toBe(-1)
  })

  it('ends the use of a stale entry when its invalidation says so', async () => {
    const [handler, other] = [process(), process()]
    await handler.get('key', [])
    await handler.set('key', rendered('old', { tags: ['product'] }))
    await other.updateTags(['product'], { expire: 60 })
    await runtime.advance(59_000)
    expect(await textIn(handler, 'key')).toBe('old')
    await runtime.advance(3000)
    expect(await textIn(other, 'key')).toBeUndefined()
  })

  it('forgets an entry whose tag was invalidated, also one of more tags than a cache takes', async () => {
    const handler = process()
    const tags = Array.from({ length: 128 }, (_, index) => `tag:${index}`)
    for (const tag of ['tag:0', 'tag:127', 't'.repeat(300)]) {
      await handler.get(tag, [])
      await handler.set(tag, rendered('old', { tags: [...tags, 't'.repeat(300)] }))
      expect(await textIn(handler, tag)).toBe('old')
      await process().updateTags([tag])
      expect(await textIn(process(), tag)).toBeUndefined()
    }
  })

  it('sends one invalidation for that which Next tells to the handlers of both kinds', async () => {
    const cache = createCache({ store, runtime })
    const sent = jest.spyOn(store, 'invalidateTags')
    const pages = new (nextIsrHandler(cache))({})
    await Promise.all([pages.revalidateTag('product'), nextCacheHandler(cache).updateTags(['product'])])
    expect(sent).toHaveBeenCalledTimes(1)
  })

  it('stores nothing of a render that began before its tag was invalidated', async () => {
    const [slow, other] = [process(), process()]
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
    const [slow, other] = [process(), process()]
    await slow.get('key', softTags)
    const entry = rendered('old', { tags: ['product'] })
    await other.updateTags([tag])
    const waiting = [slow, other].map((handler) => textIn(handler, 'key', softTags))
    await runtime.advance(10)
    await slow.set('key', entry)
    await runtime.advance(100)
    const leads = await Promise.all(waiting.map(answerOf))
    expect(leads).not.toContain('old')
    await Promise.all([slow, other].map((handler) => handler.set('key', rendered('new', { tags: ['product'] }))))
    expect(new Set(await Promise.all(waiting.map(passing)))).toEqual(new Set([undefined, 'new']))
  })

  it('has a path render anew what it uses once it was invalidated, and no other path', async () => {
    const [handler, other] = [process(), process()]
    await handler.get('menu', [pathOf('/a')])
    await handler.set('menu', rendered('old'))
    await other.updateTags([pathOf('/a')])
    expect(await textIn(other, 'menu', [pathOf('/a')])).toBeUndefined()
    expect(await textIn(handler, 'menu', [pathOf('/b')])).toBe('old')
    await other.set('menu', rendered('new'))
    expect(await textIn(handler, 'menu', [pathOf('/a')])).toBe('new')
  })

  it('gives a path that was invalidated no stale value, though it has to refresh it', async () => {
    const handler = process()
    await handler.get('menu', [])
    await handler.set('menu', rendered('old', { revalidate: 1 }))
    await runtime.advance(2000)
    await process().updateTags([pathOf('/a')])
    expect(await textIn(handler, 'menu', [pathOf('/a')])).toBeUndefined()
  })

  it('has all paths render anew when what was invalidated is lost', async () => {
    const handler = process()
    await handler.get('menu', [pathOf('/a')])
    await handler.set('menu', rendered('old'))
    await process().updateTags([pathOf('/a')])
    await createCache({ store, runtime }).delete('paths')
    expect(await textIn(handler, 'menu', [pathOf('/a')])).toBeUndefined()
  })

  it('counts a path as invalidated that was dropped from a list of too many', async () => {
    const handler = process()
    await handler.get('menu', [])
    await handler.set('menu', rendered('old'))
    await process().updateTags(Array.from({ length: 1100 }, (_, index) => pathOf(`/${index}`)))
    expect(await textIn(handler, 'menu', [pathOf('/0')])).toBeUndefined()
  })

  it('keeps no value of a path that was invalidated while it was rendered', async () => {
    const [slow, other] = [process(), process()]
    await slow.get('menu', [pathOf('/a')])
    const entry = rendered('old')
    await other.updateTags([pathOf('/a')])
    await slow.set('menu', entry)
    expect(await textIn(other, 'menu', [pathOf('/a')])).toBeUndefined()
  })

  it('notes invalidations of many paths at once, by several processes', async () => {
    const handlers = [process(), process(), process()]
    const reader = process()
    await reader.get('menu', [])
    await reader.set('menu', rendered('old'))
    const paths = Array.from({ length: 60 }, (_, index) => pathOf(`/${index}`))
    const noted = Promise.all(paths.map((path, index) => handlers[index % 3]?.updateTags([path])))
    await passing(noted)
    const texts = new Set<string | undefined>()
    for (const path of paths) {
      const text = await textIn(reader, 'menu', [path])
      if (text === undefined) await reader.set('menu', rendered('new'))
      else texts.add(text)
    }
    expect([...texts]).toEqual(['new'])
  })

  it('stores the entry of a root parameter before the one that points to it', async () => {
    const [handler, other] = [process(), process()]
    await handler.get('key', [])
    const waiting = other.get('key', []).then(() => textIn(other, 'key[lang]'))
    const slow = new TransformStream<Uint8Array, Uint8Array>()
    const sets = [handler.set('key[lang]', rendered('', { value: slow.readable })), handler.set('key', rendered('.'))]
    await runtime.advance(100)
    const writer = slow.writable.getWriter()
    await writer.write(Buffer.from('English'))
    await writer.close()
    await Promise.all(sets)
    expect(await passing(waiting)).toBe('English')
  })

  it('stores nothing of a process that has lost its lead, or never had one', async () => {
    const [slow, other] = [process(), process()]
    await slow.get('key', [])
    const entry = rendered('old')
    await runtime.advance(11_000)
    await other.get('key', [])
    await other.set('key', rendered('new'))
    await slow.set('key', entry)
    expect(await textIn(other, 'key')).toBe('new')
  })

  it('stores a render under the lead that it began with, not under a later one of its process', async () => {
    const handler = process()
    await handler.get('key', [])
    const entry = rendered('old')
    await runtime.advance(11_000)
    await handler.get('key', [])
    await handler.set('key', entry)
    await handler.set('key', rendered('new'))
    expect(await textIn(process(), 'key')).toBe('new')
  })

  it('stores no render without a lead that began too long ago to know what came before', async () => {
    const handler = process()
    await handler.set('key', rendered('old', { timestamp: now() - 61_000 }))
    expect(await handler.get('key', [])).toBeUndefined()
  })

  it('ends a lead that nobody ends after three times the last render, at least two seconds', async () => {
    const [lost, other] = [process(), process()]
    await lost.get('key', [])
    await lost.set('key', rendered('old', { tags: ['product'] }))
    await other.updateTags(['product'])
    await lost.get('key', [])
    const next = other.get('key', []).then(() => 'leads')
    await runtime.advance(1900)
    expect(await answerOf(next)).toBe('waits')
    await runtime.advance(200)
    expect(await answerOf(next)).toBe('leads')
  })

  it('writes what was rendered on demand, for which nobody asked', async () => {
    const handler = process()
    await handler.get('key', [])
    await handler.set('key', rendered('old'))
    await process().set('key', rendered('new'))
    expect(await textIn(handler, 'key')).toBe('new')
  })

  it('stores no entry that is too large or dynamic, and has nobody wait for one', async () => {
    const [handler, other] = [process(), process()]
    const renders = [() => rendered('x'.repeat(101)), () => rendered('', { expire: 0 })]
    for (const [index, render] of renders.entries()) {
      const key = `key:${index}`
      await handler.get(key, [])
      const waiting = other.get(key, [])
      await handler.set(key, render())
      await runtime.advance(100)
      expect(await answerOf(waiting)).toBeUndefined()
    }
  })

  it('stores nothing of a stream that failed, and does not reject', async () => {
    const handler = process()
    await handler.get('key', [])
    const value = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('down')) })
    await handler.set('key', rendered('', { value }))
    await runtime.advance(11_000)
    expect(await handler.get('key', [])).toBeUndefined()
  })

  it('does nothing while Next builds, and makes no cache then', async () => {
    const make = (): never => {
      throw new Error('made')
    }
    const handler = nextCacheHandler(make)
    globalThis.process.env['NEXT_PHASE'] = 'phase-production-build'
    try {
      expect(await handler.get('key', [])).toBeUndefined()
      await handler.set('key', rendered('seven'))
      await handler.updateTags(['product'])
    } finally {
      delete globalThis.process.env['NEXT_PHASE']
    }
    await expect(handler.get('key', [])).rejects.toThrow('made')
  })
})
