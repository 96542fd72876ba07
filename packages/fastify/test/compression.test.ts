import compress from '@fastify/compress'
import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { PassThrough, Readable } from 'node:stream'
import { ask, textOf, type WireAnswer } from '../../../test/wire.ts'
import { listen, lock, type Steps, stepsOf, withApp } from './support/cached-app.ts'

/** Longer than what `@fastify/compress` leaves alone. */
const TEXT = 'One load per expiry, for the whole fleet. '.repeat(200)

/** What clients accept, and the coding that each is to get. */
const CLIENTS = [
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['identity', undefined],
  ['gzip, br', 'br'],
  ['gzip;q=0, identity', undefined],
] as const

type Answerer = (reply: FastifyReply, text: string) => unknown

/** Where the plugin stands, and how a route gets its coding: always for each answer, but for `reply.compress`, which makes variants. */
interface Setting {
  readonly before?: (app: FastifyInstance) => void
  readonly after?: (app: FastifyInstance) => Promise<unknown>
  readonly route?: object
  readonly answer: Answerer
  readonly variants: boolean
}

const asText: Answerer = (reply, text) => reply.type('text/plain').send(text)
const asStream: Answerer = (reply, text) => {
  const stream = new PassThrough()
  for (let at = 0; at < text.length; at += 1000) stream.write(text.slice(at, at + 1000))
  return reply.type('text/plain').send(stream.end())
}
const early = { before: (app: FastifyInstance) => void app.register(compress), variants: false }
const late = { after: async (app: FastifyInstance) => await app.register(compress), variants: false }
const own = { before: (app: FastifyInstance) => void app.register(compress, { global: false }) }

const byReply: Setting = {
  ...own,
  answer: (reply, text) => reply.type('text/plain').compress(text),
  variants: true,
}

const settings: Readonly<Record<string, Setting>> = {
  'registered before the cache': { ...early, answer: asText },
  'registered before the cache, of a stream': { ...early, answer: asStream },
  'registered before the cache, of a web stream': {
    ...early,
    answer: (reply, text) => reply.type('text/plain').send(new Blob([text]).stream()),
  },
  'registered before the cache, of a web Response': {
    ...early,
    answer: (_reply, text) => new Response(text, { headers: { 'content-type': 'text/plain' } }),
  },
  'registered after the cache': { ...late, answer: asText },
  'registered after the cache, of a stream': { ...late, answer: asStream },
  'of one route': { ...own, route: { compress: {} }, answer: asText, variants: false },
  'by reply.compress': byReply,
  'by reply.compress, of a stream': {
    ...own,
    answer: (reply, text) => reply.type('text/plain').compress(Readable.from([text])),
    variants: true,
  },
  'by reply.compress beside a global one': {
    ...early,
    answer: (reply, text) => reply.type('text/plain').compress(text),
    variants: true,
  },
}

interface Site extends Steps {
  readonly advance: (ms: number) => Promise<void>
  ask(accepted: string, more?: Record<string, string>, method?: string): Promise<WireAnswer>
}

async function onSite(
  setting: Setting,
  text: () => Promise<string> | string,
  play: (site: Site) => Promise<void>,
): Promise<void> {
  await withApp(
    async ({ app, cache, runtime }) => {
      await setting.after?.(app)
      const config = { cache: { ttl: '1s', staleWhileRevalidate: '1m' } } as const
      app.get('/text', { config, ...setting.route }, async (_request, reply) => setting.answer(reply, await text()))
      const port = await listen(app)
      await play({
        ...stepsOf(cache),
        advance: (ms) => runtime.advance(ms),
        ask: (accepted, more = {}, method = 'GET') =>
          ask(port, '/text', { method, headers: { 'accept-encoding': accepted, ...more } }),
      })
    },
    setting.before === undefined ? {} : { early: setting.before },
  )
}

function expectOwnCoding(answer: WireAnswer, coding: string | undefined, text: string): void {
  expect([answer.status, answer.whole, answer.headers['content-encoding']]).toEqual([200, true, coding])
  expect(textOf(answer)).toBe(text)
  // The plugin says it of no answer that it left as it was.
  expect(['accept-encoding', ...(coding === undefined ? ['undefined'] : [])]).toContain(String(answer.headers.vary))
}

describe.each(Object.entries(settings))('@fastify/compress %s', (_name, setting) => {
  const most = setting.variants ? CLIENTS.length : 1

  test('gives each client the coding that it takes, at the miss and at hits, and codes once', async () => {
    let runs = 0
    const made = (): string => {
      runs += 1
      return TEXT
    }
    await onSite(setting, made, async (site) => {
      for (const [accepted, coding] of [...CLIENTS, ...CLIENTS]) expectOwnCoding(await site.ask(accepted), coding, TEXT)
      expect(runs).toBeLessThanOrEqual(most)
    })
  })

  test('gives followers of a leader who takes another coding their own', async () => {
    const door = lock()
    let runs = 0
    const made = async (): Promise<string> => {
      runs += 1
      await door.opened
      return TEXT
    }
    await onSite(setting, made, async (site) => {
      const crowd = Array.from({ length: 5 }, () => CLIENTS).flat()
      const answers = crowd.map(([accepted]) => site.ask(accepted))
      await site.seen('join', crowd.length - 1)
      door.open()
      for (const [index, answer] of (await Promise.all(answers)).entries())
        expectOwnCoding(answer, crowd[index]?.[1], TEXT)
      expect(runs).toBeLessThanOrEqual(most)
    })
  })

  test('leaves an entity-tag that can be asked with, and a HEAD and a 304 without a body', async () => {
    await onSite(
      setting,
      () => TEXT,
      async (site) => {
        for (const [accepted, coding] of CLIENTS) {
          await site.ask(accepted)
          const { headers } = await site.ask(accepted)
          const conditional = await site.ask(accepted, { 'if-none-match': String(headers.etag) })
          expect([conditional.status, conditional.body.length]).toEqual([304, 0])
          const head = await site.ask(accepted, {}, 'HEAD')
          expect([head.status, head.body.length, head.whole]).toEqual([200, 0, true])
          expectOwnCoding(await site.ask(accepted), coding, TEXT)
        }
      },
    )
  })

  test('refreshes each coding behind, for those who take it', async () => {
    let text = TEXT
    await onSite(
      setting,
      () => text,
      async (site) => {
        for (const [accepted] of CLIENTS) await site.ask(accepted)
        text = TEXT.toUpperCase()
        await site.advance(2000)
        for (const [accepted, coding] of CLIENTS) {
          await site.ask(accepted)
          await site.seen('outcome', site.count('load'))
          expectOwnCoding(await site.ask(accepted), coding, text)
        }
      },
    )
  })
})

test('@fastify/compress leaves parts alone, and they are those of the text', async () => {
  await withApp(
    async ({ app }) => {
      app.get('/text', { config: { cache: { ttl: '1m', range: true } } }, async (_request, reply) =>
        asText(reply, TEXT),
      )
      const port = await listen(app)
      const asking = (headers: Record<string, string>): Promise<WireAnswer> =>
        ask(port, '/text', { headers: { 'accept-encoding': 'gzip', ...headers } })
      await asking({})
      const part = await asking({ range: 'bytes=2-5000' })
      const { 'content-range': range, 'content-encoding': coding } = part.headers
      expect([part.status, range, coding]).toEqual([206, `bytes 2-5000/${TEXT.length}`, undefined])
      expect(part.body.toString()).toBe(TEXT.slice(2, 5001))
      expectOwnCoding(await asking({}), 'gzip', TEXT)
    },
    { early: (app) => void app.register(compress) },
  )
})

test('what reply.compress leaves as it is names no Vary: it is for everybody, and never coded for who cannot read it', async () => {
  await onSite(
    byReply,
    () => TEXT,
    async (site) => {
      for (const accepted of ['identity', 'gzip', 'identity']) {
        const { headers, body } = await site.ask(accepted)
        expect([headers['content-encoding'], body.toString()]).toEqual([undefined, TEXT])
      }
    },
  )
})
