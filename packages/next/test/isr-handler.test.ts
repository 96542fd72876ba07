import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCache, memoryStore, type Store } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { beforeEach, describe, expect, it } from '@jest/globals'
import {
  type NextIsrEntry,
  type NextIsrGetContext,
  nextIsrHandler,
  type NextIsrHandler,
  type NextIsrSetContext,
  type NextIsrValue,
} from '../src/index.ts'

let runtime: ManualRuntime
let store: Store

beforeEach(() => {
  runtime = createManualRuntime()
  store = memoryStore({ runtime })
})

type Requests = (serverDistDir?: string) => NextIsrHandler

/** A process: it makes a handler for each request. */
function process(): Requests {
  const Handler = nextIsrHandler(createCache({ store, runtime }))
  return (serverDistDir) => new Handler({ serverDistDir })
}

const PAGE: NextIsrGetContext = { kind: 'APP_PAGE' }
const forSeconds = (revalidate: number | false, expire?: number): NextIsrSetContext => ({
  cacheControl: { revalidate, expire },
})

interface Page extends NextIsrValue {
  readonly html: string
  readonly rscData: Buffer
  readonly segmentData: ReadonlyMap<string, Buffer>
}

function page(html: string, tags = 'product'): Page {
  const headers = { 'x-next-cache-tags': tags }
  const segmentData = new Map([['/_tree', Buffer.from(html)]])
  return { kind: 'APP_PAGE', html, rscData: Buffer.from([0, 255]), headers, segmentData }
}

const fetched = (body: string, revalidate: number): NextIsrValue & { readonly data: { readonly body: string } } => ({
  kind: 'FETCH',
  data: { body },
  revalidate,
})

/** Renders a page in a process that finds none. */
async function render(request: NextIsrHandler, key: string, value: NextIsrValue | null, context: NextIsrSetContext) {
  expect(await request.get(key, PAGE)).toBeNull()
  await request.set(key, value, context)
}

const htmlOf = (entry: NextIsrEntry | null): unknown => entry && Reflect.get(entry.value ?? {}, 'html')

/** The time until Next takes an entry for stale that is fresh for so many seconds, ms. */
function untilStale({ lastModified }: NextIsrEntry, revalidate: number): number {
  return lastModified + revalidate * 1000 - performance.timeOrigin - performance.now()
}

const isStale = (entry: NextIsrEntry, revalidate: number): boolean => untilStale(entry, revalidate) < 0

describe('the handler of pages', () => {
  it('returns what was stored, with its bytes and Maps', async () => {
    await render(process()(), '/shop', page('seven'), forSeconds(60))
    const { value, cacheControl } = (await process()().get('/shop', PAGE)) ?? {}
    expect([value, cacheControl]).toEqual([page('seven'), { revalidate: 60, expire: undefined }])
    expect(Buffer.isBuffer(Reflect.get(value ?? {}, 'rscData'))).toBe(true)
  })

  it('stores that a page does not exist', async () => {
    await render(process()(), '/none', null, forSeconds(60))
    expect(await process()().get('/none', PAGE)).toMatchObject({ value: null })
  })

  it('has one request refresh a stale page, and the others take it for a fresh one', async () => {
    const [one, other] = [process(), process()]
    await render(one(), '/shop', page('old'), forSeconds(60))
    await runtime.advance(61_000)
    const entries = [await one().get('/shop', PAGE), await other().get('/shop', PAGE), await one().get('/shop', PAGE)]
    // The others at least as long as the lead.
    expect(entries.map((entry) => entry && untilStale(entry, 60) > 1500)).toEqual([false, true, true])
    expect(entries.map((entry) => entry && isStale(entry, 60))).toEqual([true, false, false])
  })

  it('makes a page stale by its tag, also one that no age makes stale', async () => {
    const [one, other] = [process(), process()]
    await render(one(), '/aged', page('old'), forSeconds(60))
    await render(one(), '/lasting', page('old'), forSeconds(false))
    await other().revalidateTag('product', {})
    const aged = await one().get('/aged', PAGE)
    expect([aged && isStale(aged, 60), (await one().get('/lasting', PAGE))?.lastModified]).toEqual([true, -1])
  })

  it.each([
    ['a tag of it', 'product'],
    ['its path', '_N_T_/shop'],
  ])('forgets a page in all processes once %s is invalidated', async (_what, tag) => {
    await render(process()(), '/shop', page('old', `product,_N_T_/shop`), forSeconds(60))
    await process()().revalidateTag([tag])
    expect(await process()().get('/shop', PAGE)).toBeNull()
  })

  it('stores nothing when Next stores the old page anew, because its render failed', async () => {
    const [one, other] = [process(), process()]
    await render(one(), '/shop', page('old'), forSeconds(60, 100))
    await runtime.advance(61_000)
    const request = one()
    const { value = null } = (await request.get('/shop', PAGE)) ?? {}
    await request.set('/shop', { ...page(''), ...value, kind: 'APP_PAGE' }, forSeconds(30))
    await runtime.advance(60_000)
    expect(await other().get('/shop', PAGE)).toBeNull()
  })

  it('stores nothing of a request that lost its lead, and what was rendered on demand', async () => {
    const [one, other] = [process(), process()]
    const slow = one()
    await slow.get('/shop', PAGE)
    await runtime.advance(11_000)
    await render(other(), '/shop', page('new'), forSeconds(60))
    await slow.set('/shop', page('old'), forSeconds(60))
    expect(htmlOf(await other().get('/shop', PAGE))).toBe('new')
    await one().set('/shop', page('on demand'), forSeconds(60))
    expect(htmlOf(await other().get('/shop', PAGE))).toBe('on demand')
  })

  it('stores a page for the request that leads, not for an earlier one of its process', async () => {
    const requests = process()
    const [slow, leader] = [requests(), requests()]
    await slow.get('/shop', PAGE)
    await runtime.advance(11_000)
    await leader.get('/shop', PAGE)
    await slow.set('/shop', page('old'), forSeconds(60))
    await leader.set('/shop', page('new'), forSeconds(60))
    expect(htmlOf(await process()().get('/shop', PAGE))).toBe('new')
  })

  it('stores nothing of a request whose lead is long forgotten', async () => {
    const requests = process()
    const slow = requests()
    await slow.get('/shop', PAGE)
    const others = requests()
    for (let other = 0; other <= 10_000; other += 1) await others.get(`/${other}`, PAGE)
    await slow.set('/shop', page('old'), forSeconds(60))
    expect(await requests().get('/shop', PAGE)).toBeNull()
  })

  it('keeps the pages of two builds apart', async () => {
    const builds = ['one', 'two'].map((id) => {
      const folder = mkdtempSync(join(tmpdir(), 'next-build-'))
      mkdirSync(join(folder, 'server'))
      writeFileSync(join(folder, 'BUILD_ID'), `${id}\n`)
      return join(folder, 'server')
    })
    const requests = process()
    for (const [index, build] of builds.entries())
      await render(requests(build), '/shop', page(`build ${index}`), forSeconds(60))
    const pages = await Promise.all(builds.map(async (build) => htmlOf(await process()(build).get('/shop', PAGE))))
    expect(pages).toEqual(['build 0', 'build 1'])
  })
})

describe('the handler of fetch', () => {
  const context = (tags: string[], softTags: string[] = []): NextIsrGetContext => ({ kind: 'FETCH', tags, softTags })
  const stored = (tags: string[]): NextIsrSetContext => ({ fetchCache: true, tags })

  it('shares a response between builds, and forgets it by its tags', async () => {
    const request = process()('/one/server')
    await request.get('url', context(['menu']))
    await request.set('url', fetched('seven', 60), stored(['menu']))
    expect(await process()('/two/server').get('url', context(['menu']))).toMatchObject({ value: { kind: 'FETCH' } })
    await process()().revalidateTag('menu')
    expect(await process()().get('url', context(['menu']))).toBeNull()
  })

  it('loads a response anew for a path that was invalidated', async () => {
    const request = process()()
    await request.get('url', context([]))
    await request.set('url', fetched('seven', 60), stored([]))
    await process()().revalidateTag(['_N_T_/shop'])
    expect(await process()().get('url', context([], ['_N_T_/shop']))).toBeNull()
    expect(await process()().get('url', context([], ['_N_T_/other']))).not.toBeNull()
  })

  it('gives a caller that names other tags an entry of its own, which carries them', async () => {
    const request = process()()
    await request.get('url', context(['one']))
    await request.set('url', fetched('seven', 60), stored(['one']))
    expect(await request.get('url', context(['one', 'two']))).toBeNull()
  })
})
