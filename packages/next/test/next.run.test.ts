import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type AppServer, start } from '../../../test/support/built-app.ts'
import { type Client, connect } from '../../../test/support/redis-under-test.ts'
import { buildNext, startNext } from '../../../test/support/next-app.ts'
import { until } from '../../../test/support/until.ts'
import { freePort } from '../../../test/free-port.ts'

const APP = resolve(__dirname, '../../../examples/next-shop')

let redis: RedisServer
let source: AppServer
let client: Client
let env: Record<string, string>
/** Two processes of one build. */
let pods: AppServer[] = []

beforeAll(async () => {
  redis = await startRedis({ own: true })
  client = await connect(redis.url)
  const port = await freePort()
  const program = { node: process.execPath, args: ['source.mjs', String(port)], env: { SOURCE_DELAY: '50' } }
  source = await start(APP, program, { origin: `http://127.0.0.1:${port}`, ready: 'source http' })
  env = { SOURCE_URL: source.origin, REDIS_URL: redis.url, NEXT_SHOP_OUTPUT: 'dist/test' }
  await buildNext(APP, env)
  pods = await Promise.all([startNext(APP, env), startNext(APP, env)])
})

afterAll(async () => {
  await Promise.all([...pods, source].map((server) => server?.stop()))
  await client?.close()
  await redis?.stop()
})

beforeEach(async () => await mood('well'))

async function mood(name: 'well' | 'held' | 'failing'): Promise<void> {
  await fetch(`${source.origin}/mood/${name}`)
}

/** How often the source was asked, which is once for each render. */
async function rendersOf(what: string): Promise<number> {
  const counts = (await (await fetch(`${source.origin}/counts`)).json()) as Record<string, number>
  return counts[`/${what}`] ?? 0
}

function pod(index: number): AppServer {
  const found = pods[index % pods.length]
  if (found === undefined) throw new Error('No process')
  return found
}

/** The version that the page shows; -1: none. */
async function versionOn(server: AppServer, path: string): Promise<number> {
  const response = await fetch(server.origin + path)
  return Number(/version=(\d+);/.exec(await response.text())?.[1] ?? -1)
}

/** 100 requests at once, spread over the processes: the versions that they got. */
async function versionsOfAll(path: string): Promise<readonly number[]> {
  const versions = await Promise.all(Array.from({ length: 100 }, (_, index) => versionOn(pod(index), path)))
  return [...new Set(versions)].toSorted((one, other) => one - other)
}

/** Both processes then know that a render of it takes long, and hold the next one's place for three times as long. */
async function renderSlowly(path: string): Promise<void> {
  await mood('held')
  const rendered = versionOn(pod(0), path)
  await sleep(3000)
  await mood('well')
  await rendered
  await versionOn(pod(1), path)
}

/** Invalidates through a process. Next answers before it has done so: this waits for what the store notes. */
async function invalidate(server: AppServer, what: string): Promise<void> {
  const noted = (): Promise<string | null> => client.get('shop:{%tags}')
  const before = await noted()
  const response = await fetch(`${server.origin}/revalidate?${what}`, { method: 'POST' })
  expect(response.status).toBe(200)
  await until(async () => (await noted()) !== before)
}

/** Sends the form of the page to its server action, as a browser without scripts does. */
async function sell(server: AppServer): Promise<void> {
  const page = await (await fetch(`${server.origin}/stock?id=form`)).text()
  const fields = new FormData()
  for (const [, name = ''] of page.matchAll(/name="(\$ACTION[^"]*)"/g)) fields.set(name, '')
  const response = await fetch(`${server.origin}/stock?id=form`, { method: 'POST', body: fields })
  if (!response.ok) throw new Error(`${response.status}`)
}

describe.each([
  ["'use cache'", '/stock?id=7', 'stock/7', 'stock'],
  ['a prerendered page', '/catalogue', 'catalogue', 'catalogue'],
])('two processes of a Next app: %s', (_name, path, what, tag) => {
  it('is rendered once for 100 requests that find nothing', async () => {
    await renderSlowly(path)
    await invalidate(pod(0), `tag=${tag}&now=1`)
    const before = await rendersOf(what)
    expect([await versionsOfAll(path), await rendersOf(what)]).toEqual([[before + 1], before + 1])
  })

  it('is served stale at an expiry, behind which one render runs, whatever asks', async () => {
    await invalidate(pod(0), `tag=${tag}&now=1`)
    await renderSlowly(path)
    const before = await versionOn(pod(0), path)
    await mood('held')
    await invalidate(pod(0), `tag=${tag}`)
    expect(await Promise.all(pods.map((each) => versionOn(each, path)))).toEqual([before, before])
    await mood('well')
    expect((await versionsOfAll(path)).filter((version) => version > before + 1)).toEqual([])
    await until(async () => (await versionsOfAll(path)).every((version) => version > before))
    expect(await rendersOf(what)).toBe(before + 1)
  })

  it('is new in the other process, and stays so, once its tag or its path was invalidated', async () => {
    for (const invalidated of [`tag=${tag}&now=1`, `path=${path.split('?')[0]}`]) {
      const before = await versionOn(pod(1), path)
      await invalidate(pod(0), invalidated)
      await until(async () => (await versionOn(pod(1), path)) > before)
      const renders = await rendersOf(what)
      expect([await versionsOfAll(path), await rendersOf(what)]).toEqual([[renders], renders])
    }
  })

  it('does not become what it was before an invalidation, by a render that began before', async () => {
    await versionOn(pod(0), path)
    await invalidate(pod(0), `tag=${tag}&now=1`)
    const before = await rendersOf(what)
    await mood('held')
    const early = versionOn(pod(0), path)
    await until(async () => (await rendersOf(what)) > before)
    await invalidate(pod(1), `tag=${tag}&now=1`)
    await mood('well')
    await early
    expect(await versionOn(pod(1), path)).toBeGreaterThan(before + 1)
    expect(await versionOn(pod(0), path)).toBeGreaterThan(before + 1)
  })
})

describe('two processes of a Next app', () => {
  it('show to all what a server action has updated', async () => {
    const before = await versionOn(pod(1), '/stock?id=7')
    await sell(pod(0))
    expect(await versionOn(pod(1), '/stock?id=7')).toBeGreaterThan(before)
  })

  it('answer while a render fails, and try it again once in each hold', async () => {
    const path = '/stock?id=broken'
    await versionOn(pod(0), path)
    await invalidate(pod(0), 'tag=stock:broken&now=1')
    await mood('failing')
    // One process leads and fails. The requests to the other wait for it until its hold ends, and then fail.
    expect(await versionsOfAll(path)).toEqual([-1])
    expect(await rendersOf('stock/broken')).toBe(3)
    await mood('well')
    await until(async () => (await versionOn(pod(0), path)) > 0)
  })

  it('go on where a process was killed while it rendered', async () => {
    await versionOn(pod(0), '/stock?id=killed')
    const third = await startNext(APP, env)
    await versionOn(third, '/stock?id=killed')
    await invalidate(pod(0), 'tag=stock:killed&now=1')
    await mood('held')
    const lost = versionOn(third, '/stock?id=killed').catch(() => 'lost')
    await until(async () => (await rendersOf('stock/killed')) === 2)
    await third.stop()
    await mood('well')
    expect([await lost, await versionOn(pod(0), '/stock?id=killed')]).toEqual(['lost', 3])
  })

  it('serve what they have read while Redis is silent, render the rest, and share again by themselves', async () => {
    const onBoth = (): Promise<number[]> => Promise.all([pod(0), pod(1)].map((one) => versionOn(one, '/stock?id=away')))
    // From here on the list of invalidated paths is no longer empty.
    await invalidate(pod(0), 'path=/elsewhere')
    await onBoth()
    const before = await onBoth()
    redis.pause()
    expect(await onBoth()).toEqual(before)
    expect(await versionOn(pod(0), '/stock?id=unknown')).toBe(1)
    redis.resume()
    await until(async () => {
      // In vain until the process has found the server again.
      await fetch(`${pod(0).origin}/revalidate?tag=stock:away&now=1`, { method: 'POST' })
      const [one = 0, other] = await onBoth()
      return one === other && one > Math.max(...before)
    })
  })
})
