import { describe, expect, test } from '@jest/globals'
import express, { type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { onSite, type Site } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

type Send = (...args: unknown[]) => never

/** A layer outside that writes the name of its client into each body that comes whole, with `end`. */
const named: RequestHandler = (req, res, next) => {
  const [write, end] = [res.write.bind(res), res.end.bind(res)] as unknown as [Send, Send]
  let isBegun = false
  res.write = (...args: unknown[]) => {
    isBegun = true
    return write(...args)
  }
  res.end = (...args: unknown[]) => {
    const [body] = args
    const isWhole = !isBegun && (typeof body === 'string' || Buffer.isBuffer(body))
    const user = req.get('x-user')
    if (!isWhole || user === undefined) return end(...args)
    res.removeHeader('Content-Length')
    return end(`${String(body)} for ${user}`)
  }
  next()
}

const etag = '"1"'

/** The handler streams, so that its leader’s body leaves as it is. */
const streams: RequestHandler = (_req, res) => {
  res.set('ETag', etag)
  res.write('a ')
  res.end('page')
}

async function onPages(make: () => Express, layers: readonly RequestHandler[], play: (site: Site) => Promise<void>) {
  await onSite(
    (app, cached) => {
      for (const layer of layers) app.use(layer)
      app.get('/page', cached({ ttl: '1m', range: true }), streams)
    },
    play,
    {},
    make,
  )
}

describe.each(VERSIONS)('a layer outside that replaces whole bodies only, on %s,', (_, make) => {
  test.each([
    ['a condition', { 'if-none-match': etag }],
    ['a range', { range: 'bytes=0-3' }],
  ])('has a hit with %s sent to it whole, after a leader that streamed', async (_what, fields) => {
    await onPages(make, [named], async ({ get }) => {
      const leader = await get('/page').set('X-User', 'ann')
      expect(leader.text).toBe('a page')
      for (const asked of [{}, fields]) {
        const { status, text } = await get('/page').set({ 'X-User': 'bob', ...asked })
        expect([status, text]).toEqual([200, 'a page for bob'])
      }
    })
  })

  test('that it has left alone before, for other clients, has a hit sent to it whole from then on', async () => {
    await onPages(make, [named], async ({ get }) => {
      const asked = async (fields: Record<string, string>): Promise<unknown> => {
        const { status, text } = await get('/page').set(fields)
        return [status, text]
      }
      await get('/page')
      expect(await asked({})).toEqual([200, 'a page'])
      expect(await asked({ 'if-none-match': etag })).toEqual([304, ''])
      expect(await asked({ 'x-user': 'ann' })).toEqual([200, 'a page for ann'])
      expect(await asked({ 'x-user': 'bob', 'if-none-match': etag })).toEqual([200, 'a page for bob'])
    })
  })
})

describe.each(VERSIONS)('a layer outside that leaves bodies as they are, on %s,', (_, make) => {
  const passes: RequestHandler = (_req, res, next) => {
    const end = res.end.bind(res) as (...args: unknown[]) => never
    res.end = (...args: unknown[]) => end(...args)
    next()
  }

  test.each([
    ['no layer', []],
    ['a layer that replaces end', [passes]],
  ])('has conditions and ranges answered once that was seen: %s', async (_what, layers) => {
    await onPages(make, layers, async ({ get }) => {
      await get('/page')
      expect((await get('/page')).status).toBe(200)
      expect((await get('/page').set('If-None-Match', etag)).status).toBe(304)
      expect((await get('/page').set('Range', 'bytes=0-3')).status).toBe(206)
    })
  })
})
