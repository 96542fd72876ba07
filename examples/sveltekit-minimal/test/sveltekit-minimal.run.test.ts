import { resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { until } from '../../../test/support/until.ts'
import type { AppServer } from '../../../test/support/built-app.ts'
import { buildKit, startKit } from '../../../test/support/sveltekit-app.ts'

const EXAMPLE = resolve(__dirname, '..')

let server: AppServer

beforeAll(async () => await buildKit(EXAMPLE))
beforeEach(async () => {
  await server?.stop()
  server = await startKit(EXAMPLE)
})
afterAll(async () => await server?.stop())

const loads = (): number => server.output().split('reading the products').length - 1

async function get(path: string): Promise<{ text: string; cacheStatus: string }> {
  const response = await fetch(server.origin + path)
  return { text: await response.text(), cacheStatus: response.headers.get('cache-status') ?? '' }
}

describe.each([
  ['its page', '/'],
  ['the data of its page', '/__data.json'],
  ['its endpoint', '/products'],
])('examples/sveltekit-minimal: %s', (_name, path) => {
  it('is made once for two requests at once, and not at all for a later one', async () => {
    const both = await Promise.all([get(path), get(path)])
    expect(both.map(({ text }) => text.includes('1999'))).toEqual([true, true])
    expect(await get(path)).toEqual({ text: both[0]?.text, cacheStatus: expect.stringContaining('; hit;') })
    expect(loads()).toBe(1)
  })

  it('shows what a write has changed to the next request', async () => {
    await get(path)
    await fetch(`${server.origin}/price-rise`, { method: 'POST' })
    const { text, cacheStatus } = await get(path)
    expect([text.includes('2099'), cacheStatus]).toEqual([true, expect.stringContaining('; fwd=')])
    expect(loads()).toBe(2)
  })
})

it('examples/sveltekit-minimal finishes the request under way at SIGTERM, and ends with 0', async () => {
  const underWay = get('/products')
  await until(() => loads() === 1)
  const [{ cacheStatus }, code] = await Promise.all([underWay, server.end()])
  expect([cacheStatus, code]).toEqual([expect.stringContaining('; stored;'), 0])
})
