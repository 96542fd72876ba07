import { resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { buildAstro, startAstro } from '../../../test/support/astro-app.ts'
import type { AppServer } from '../../../test/support/built-app.ts'

const EXAMPLE = resolve(__dirname, '..')

let server: AppServer

beforeAll(async () => await buildAstro(EXAMPLE))
beforeEach(async () => {
  await server?.stop()
  server = await startAstro(EXAMPLE)
})
afterAll(async () => await server?.stop())

const reads = (): number => server.output().split('reading the products').length - 1

async function get(path: string): Promise<{ text: string; cacheStatus: string }> {
  const response = await fetch(server.origin + path)
  return { text: await response.text(), cacheStatus: response.headers.get('cache-status') ?? '' }
}

describe.each([
  ['its page', '/'],
  ['its endpoint', '/products'],
])('examples/astro-minimal: %s', (_name, path) => {
  it('is rendered once, and not at all for a later request', async () => {
    const first = await get(path)
    expect(await get(path)).toEqual({ text: first.text, cacheStatus: expect.stringContaining('; hit;') })
    expect([first.text.includes('1999'), reads()]).toEqual([true, 1])
  })

  it('shows what a write has changed to the next request', async () => {
    await get(path)
    await fetch(`${server.origin}/price-rise`, { method: 'POST', headers: { 'content-type': 'application/json' } })
    const { text, cacheStatus } = await get(path)
    expect([text.includes('2099'), cacheStatus, reads()]).toEqual([true, expect.stringContaining('; fwd='), 2])
  })
})

it('examples/astro-minimal renders its page once for requests at once', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => get('/')))
  expect([all.every(({ text }) => text.includes('1999')), reads()]).toEqual([true, 1])
})
