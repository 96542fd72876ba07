import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import express, { type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { gate, onSite, type Site } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

/** A layer outside that replaces the body, and what describes it, in `end`. */
const replacing =
  (replace: (body: Buffer) => Buffer, fields: Readonly<Record<string, string>> = {}): RequestHandler =>
  (_req, res, next) => {
    const end = res.end.bind(res) as (...args: unknown[]) => typeof res
    res.end = (...args: unknown[]) => {
      const [chunk] = args
      for (const [name, value] of Object.entries(fields)) res.setHeader(name, value)
      if (!(typeof chunk === 'string' || Buffer.isBuffer(chunk)) || chunk.length === 0) return end(...args)
      const body = replace(Buffer.from(chunk as string))
      res.setHeader('Content-Length', body.length)
      return end(body)
    }
    next()
  }

const LAYERS: readonly (readonly [string, RequestHandler])[] = [
  ['appends a footer', replacing((body) => Buffer.concat([body, Buffer.from(' footer')]), { 'x-footer': 'yes' })],
  ['encodes the body', replacing((body) => gzipSync(body), { 'content-encoding': 'gzip' })],
]

const CASES = VERSIONS.flatMap(([version, make]) => LAYERS.map(([what, layer]) => ({ version, make, what, layer })))

describe.each(CASES)('on $version, a layer outside that $what in end', ({ make, layer, what }) => {
  const options = { ttl: '10s', staleIfError: '1m', softTimeout: false } as const

  /** Plays with a page, which waits for the gate, and throws once it is told to. */
  async function onPage(play: (site: Site, page: { broken: boolean; open(): void }) => Promise<void>): Promise<void> {
    const { opened, open } = gate()
    const page = { broken: false, open }
    await onSite(
      (app, cached) => {
        app.use(layer)
        app.get('/bare', (_req, res) => void res.send('page'))
        app.get('/page', cached(options), async (_req, res) => {
          await opened
          if (page.broken) res.status(500).send('broken')
          else res.send('page')
        })
      },
      (site) => play(site, page),
      {},
      make,
    )
  }

  const seen = ({ status, text, headers }: Awaited<ReturnType<Site['get']>>): unknown[] => [
    status,
    text,
    headers['content-length'],
    headers['x-footer'],
    headers['content-encoding'],
  ]

  test('does so for the leader, its followers and hits', async () => {
    await onPage(async (site, page) => {
      const bare = seen(await site.get('/bare'))
      const asked = site.crowd(3, '/page')
      await site.seen('join', 2)
      page.open()
      const answers = [...(await asked), await site.get('/page')]
      expect(answers.map(seen)).toEqual(Array(4).fill(bare))
      expect(site.count('load')).toBe(1)
    })
  })

  test('does so for a stale response in the place of a failure', async () => {
    await onPage(async (site, page) => {
      page.open()
      const bare = seen(await site.get('/bare'))
      await site.get('/page')
      page.broken = true
      await site.runtime.advance(11_000)
      expect(seen(await site.get('/page'))).toEqual(bare)
    })
  })

  test('meets no head that is sent before a 304', async () => {
    await onPage(async (site, page) => {
      page.open()
      const { headers } = await site.get('/bare')
      const etag = headers['etag'] ?? ''
      const statuses = []
      for (const path of ['/bare', '/page', '/page'])
        statuses.push((await site.get(path).set('If-None-Match', etag)).status)
      // Express answers the handler's own tag itself; the cache knows that the body is another one.
      expect(statuses).toEqual([304, 304, what === 'encodes the body' ? 304 : 200])
    })
  })
})

test('a layer outside that declares its coding before the handler runs encodes the stored body for the clients that accept it, and no other', async () => {
  await onSite(
    (app, cached) => {
      app.use((req, res, next) => {
        const end = res.end.bind(res) as (...args: unknown[]) => typeof res
        if (req.get('accept-encoding') === 'gzip') {
          res.setHeader('Content-Encoding', 'gzip')
          res.end = ((body: Buffer) => {
            res.removeHeader('Content-Length')
            return end(gzipSync(body))
          }) as typeof res.end
        }
        next()
      })
      app.get('/a', cached({ ttl: '1m' }), (_req, res) => void res.end(Buffer.from('text')))
    },
    async ({ get }) => {
      for (const coding of ['gzip', 'identity', 'gzip'])
        expect((await get('/a').set('accept-encoding', coding).responseType('text')).body.toString()).toBe('text')
    },
  )
})
