import { describe, expect, test } from '@jest/globals'
import compression from 'compression'
import express, { type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { ask, textOf, type WireAnswer } from '../../../test/wire.ts'
import type { Cached } from '../src/index.ts'
import { gate, onSite, type Site, until } from './support/site.ts'

/** Longer than what `compression` leaves alone. */
const TEXT = 'One load per expiry, for the whole fleet. '.repeat(200)

/** What clients accept, and the coding that each is to get. */
const CLIENTS = [
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['identity', undefined],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=0, identity', undefined],
  ['x-unknown', undefined],
] as const

type Place = 'outside' | 'inside' | 'on both sides of'

/** `/text`, whose handler waits for `opened`, with the middleware where it is to be. */
function declare(app: Express, cached: Cached, place: Place, handler: RequestHandler): void {
  if (place !== 'inside') app.use(compression())
  const inner = place === 'outside' ? [] : [compression()]
  app.get('/text', cached({ ttl: '1s', staleWhileRevalidate: '1m' }), ...inner, handler)
}

const asking = (site: Site, accepted: string, more: Record<string, string> = {}): Promise<WireAnswer> =>
  ask(site.port, '/text', { headers: { 'accept-encoding': accepted, ...more } })

function expectOwnCoding(answer: WireAnswer, coding: string | undefined, text: string): void {
  expect({ status: answer.status, whole: answer.whole, coding: answer.headers['content-encoding'] }).toEqual({
    status: 200,
    whole: true,
    coding,
  })
  expect(textOf(answer)).toBe(text)
  expect(String(answer.headers.vary).toLowerCase()).toBe('accept-encoding')
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('compression with %s', (_version, make) => {
  describe.each(['outside', 'inside', 'on both sides of'] as const)('%s the cache', (place) => {
    /** Every coding is a variant where the cache holds coded bodies. */
    const most = place === 'outside' ? 1 : CLIENTS.length

    test('gives each client the coding that it takes, at the miss and at hits, and codes once', async () => {
      let runs = 0
      await onSite(
        (app, cached) =>
          declare(app, cached, place, (_req, res) => {
            runs += 1
            res.type('text').send(TEXT)
          }),
        async (site) => {
          for (const [accepted, coding] of [...CLIENTS, ...CLIENTS].toReversed())
            expectOwnCoding(await asking(site, accepted), coding, TEXT)
          expect(runs).toBeLessThanOrEqual(most)
          expect(site.count('load')).toBeLessThanOrEqual(2 * most)
        },
        {},
        make,
      )
    })

    test('gives followers of a leader who takes another coding their own', async () => {
      const door = gate()
      let runs = 0
      await onSite(
        (app, cached) =>
          declare(app, cached, place, async (_req, res) => {
            runs += 1
            await door.opened
            res.type('text')
            for (let at = 0; at < TEXT.length; at += 1000) res.write(TEXT.slice(at, at + 1000))
            res.end()
          }),
        async (site) => {
          const crowd = Array.from({ length: 5 }, () => CLIENTS).flat()
          const answers = crowd.map(([accepted]) => asking(site, accepted))
          await until(() => site.count('join') === crowd.length - 1)
          door.open()
          for (const [index, answer] of (await Promise.all(answers)).entries())
            expectOwnCoding(answer, crowd[index]?.[1], TEXT)
          expect(runs).toBeLessThanOrEqual(most)
        },
        {},
        make,
      )
    })

    test('leaves an entity-tag that can be asked with, and a HEAD and a 304 without a body', async () => {
      await onSite(
        (app, cached) => declare(app, cached, place, (_req, res) => void res.type('text').send(TEXT)),
        async (site) => {
          for (const [accepted, coding] of CLIENTS) {
            for (const { headers } of [await asking(site, accepted), await asking(site, accepted)]) {
              const conditional = await asking(site, accepted, { 'if-none-match': String(headers.etag) })
              expect({ status: conditional.status, body: conditional.body.length }).toEqual({ status: 304, body: 0 })
              expect(conditional.headers).not.toHaveProperty('content-encoding')
              // `compression` says it of no 304 itself.
              expect(conditional.headers.vary).toBe(place === 'outside' ? undefined : 'Accept-Encoding')
            }
            const head = await ask(site.port, '/text', { method: 'HEAD', headers: { 'accept-encoding': accepted } })
            expect([head.status, head.body.length, head.whole]).toEqual([200, 0, true])
            expect([undefined, coding]).toContain(head.headers['content-encoding'])
            expectOwnCoding(await asking(site, accepted), coding, TEXT)
          }
        },
        {},
        make,
      )
    })

    test('refreshes each coding behind, for those who take it', async () => {
      let text = TEXT
      await onSite(
        (app, cached) => declare(app, cached, place, (_req, res) => void res.type('text').send(text)),
        async (site) => {
          for (const [accepted] of CLIENTS) await asking(site, accepted)
          text = TEXT.toUpperCase()
          await site.runtime.advance(2000)
          for (const [accepted, coding] of CLIENTS) {
            expect(TEXT.toUpperCase()).toBe(textOf(await asking(site, accepted)).toUpperCase())
            await until(() => site.count('outcome') === site.count('load'))
            expectOwnCoding(await asking(site, accepted), coding, text)
          }
        },
        {},
        make,
      )
    })
  })

  test('outside the cache leaves parts alone where its filter says so, and they are those of the text', async () => {
    await onSite(
      (app, cached) => {
        app.use(compression({ filter: (req, res) => res.statusCode !== 206 && compression.filter(req, res) }))
        app.get('/text', cached({ ttl: '1m', range: true }), (_req, res) => void res.type('text').send(TEXT))
      },
      async (site) => {
        await asking(site, 'gzip')
        const part = await asking(site, 'gzip', { range: 'bytes=2-5000' })
        const { 'content-range': range, 'content-encoding': coding } = part.headers
        expect([part.status, range, coding]).toEqual([206, `bytes 2-5000/${TEXT.length}`, undefined])
        expect(part.body.toString()).toBe(TEXT.slice(2, 5001))
        expectOwnCoding(await asking(site, 'gzip'), 'gzip', TEXT)
      },
      {},
      make,
    )
  })
})
