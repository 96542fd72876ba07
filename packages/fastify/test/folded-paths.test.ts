import { describe, expect, test } from '@jest/globals'
import type { FastifyServerOptions } from 'fastify'
import { cache, counter, withApp } from './support/cached-app.ts'

const IGNORING_CASE: FastifyServerOptions = { routerOptions: { caseSensitive: false } }
const IGNORING_SLASH: FastifyServerOptions = { routerOptions: { ignoreTrailingSlash: true } }

describe.each<[string, FastifyServerOptions, readonly string[], string]>([
  ['case', IGNORING_CASE, ['/Items/5/a', '/items/5/a', '/ITEMS/5/%61'], '/Items/5/a'],
  ['a trailing slash', IGNORING_SLASH, ['/Items/5/a/', '/Items/5/a'], '/Items/5/a'],
  [
    'both',
    { routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } },
    ['/items/5/a/', '/ITEMS/5/a'],
    '/Items/5/a',
  ],
])('an app that ignores %s of a path', (_, server, spellings, path) => {
  test.each([
    ['handler', cache],
    ['onRequest hook', { ...cache, phase: 'onRequest' } as const],
  ])('has one entry for all spellings, and shows the handler the declared one (%s)', async (_phase, options) => {
    const seen: string[] = []
    await withApp(
      async ({ app }) => {
        const params = { type: 'object', properties: { id: { type: 'integer' } } }
        app.get('/Items/:id/:name', { config: { cache: options }, schema: { params } }, async ({ url }) => {
          seen.push(url)
          return url
        })
        for (const url of spellings) expect([url, (await app.inject(url)).body]).toEqual([url, path])
        expect(seen).toEqual([path])
      },
      { server },
    )
  })
})

test('an app that ignores the case of a path distinguishes that of its parameters', async () => {
  const { next } = counter()
  await withApp(
    async ({ app }) => {
      app.get('/items/:name', { config: { cache } }, async () => next())
      const ask = async (url: string): Promise<string> => (await app.inject(url)).body
      expect([await ask('/items/a'), await ask('/items/A'), await ask('/ITEMS/a')]).toEqual(['run 1', 'run 2', 'run 1'])
    },
    { server: IGNORING_CASE },
  )
})

test('an app that ignores nothing has an entry for each spelling that it routes', async () => {
  const { next } = counter()
  await withApp(async ({ app }) => {
    for (const url of ['/Items', '/items', '/items/']) app.get(url, { config: { cache } }, async () => next())
    const ask = async (url: string): Promise<string> => (await app.inject(url)).body
    expect([await ask('/Items'), await ask('/items'), await ask('/items/')]).toEqual(['run 1', 'run 2', 'run 3'])
  })
})

test('a router that splits on semicolons: /f/a;x and /f/a%3Bx are two pages, also where it ignores case', async () => {
  const server = { useSemicolonDelimiter: true, routerOptions: { caseSensitive: false } }
  await withApp(
    async ({ app }) => {
      app.get('/f/:id', { config: { cache } }, async ({ params, query }) => ({ params, query }))
      for (const _ of [1, 2]) {
        expect((await app.inject('/f/a%3Bx')).json()).toEqual({ params: { id: 'a;x' }, query: {} })
        expect((await app.inject('/F/a;x')).json()).toEqual({ params: { id: 'a' }, query: { x: '' } })
      }
    },
    { server },
  )
})
