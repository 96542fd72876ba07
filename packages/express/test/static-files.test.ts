import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import express from 'express'
import { onSite } from './support/site.ts'

test('files below app.use(cached()) answer conditions and ranges as without a cache, after one whole answer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cattlegrid-'))
  try {
    await writeFile(join(folder, 'a.txt'), 'the whole file')
    await onSite(
      (app, cached) => {
        app.use(cached(), express.static(folder))
      },
      async (site) => {
        const { headers, status, text } = await site.get('/a.txt')
        expect([status, text]).toEqual([200, 'the whole file'])
        expect((await site.get('/a.txt').set('if-none-match', headers['etag'] ?? '')).status).toBe(304)
        const part = await site.get('/a.txt').set('range', 'bytes=4-8')
        expect([part.status, part.text]).toEqual([206, 'whole'])
      },
    )
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a request without a condition or a range can lead, also after a response that forbade to store it', async () => {
  let declared = 'no-store'
  await onSite(
    (app, cached) => {
      app.use(cached({ cacheStatus: true }))
      app.get('/a', (_req, res) => void res.set('Cache-Control', declared).send('a page'))
    },
    async ({ get, runtime }) => {
      await get('/a')
      // The key is uncacheable for 10 s.
      await runtime.advance(11_000)
      const range = await get('/a').set('Range', 'bytes=0-0')
      expect(range.headers['cache-status']).toBe('cattlegrid; fwd=bypass; detail=unstored')
      declared = 'max-age=60'
      expect((await get('/a')).headers['cache-status']).toBe('cattlegrid; fwd=uri-miss; stored; ttl=60')
      expect((await get('/a').set('Range', 'bytes=0-0')).headers['cache-status']).toContain('; hit')
    },
  )
})
