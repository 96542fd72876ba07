import { describe, expect, test } from '@jest/globals'
import { memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import type { Request, Response } from 'express'
import { gate, onSite, until } from './support/site.ts'

const LOAD_TIMEOUT = 30_000
const WAIT_TIMEOUT = 10_000

describe('in app mode, a URL of which nothing was ever stored', () => {
  test('does not cool down after loadTimeout', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(cached())
        app.get('/a', (_req, res) => {
          runs += 1
          if (runs > 1) res.send('next')
        })
      },
      async ({ get, runtime, seen }) => {
        void get('/a').then(
          () => undefined,
          () => undefined,
        )
        await seen('load', 1)
        await runtime.advance(LOAD_TIMEOUT + 1)
        const next = await get('/a')
        expect([next.status, next.text]).toEqual([200, 'next'])
      },
    )
  })

  test('says in Cache-Status that its response came too late to be stored', async () => {
    const door = gate()
    await onSite(
      (app, cached) => {
        app.use(cached({ cacheStatus: true }))
        app.get('/a', async (_req, res) => {
          await door.opened
          res.set('cache-control', 'max-age=60').send('late')
        })
      },
      async ({ get, runtime, seen }) => {
        const asked = get('/a').then((response) => response.headers['cache-status'])
        await seen('load', 1)
        await runtime.advance(LOAD_TIMEOUT + 1)
        door.open()
        expect(await asked).toBe('cattlegrid; fwd=uri-miss; detail=timeout')
      },
    )
  })

  test('answers HEAD by its handler, where the subrequest in its place takes too long', async () => {
    const runs: string[] = []
    await onSite(
      (app, cached) => {
        app.use(cached())
        app.get('/a', (req, res) => {
          runs.push(req.method)
          if (req.method === 'HEAD') res.set('x-own', 'yes').end()
        })
      },
      async ({ head, runtime, seen }) => {
        const asked = head('/a').then(({ status, headers }) => [status, headers['x-own']])
        await seen('load', 1)
        await runtime.advance(LOAD_TIMEOUT + 1)
        expect(await asked).toEqual([200, 'yes'])
        expect(runs).toEqual(['GET', 'HEAD'])
      },
    )
  })

  test('answers by the handler of this process, where one of another process takes longer than waitTimeout', async () => {
    const runtime = createManualRuntime()
    const process = { runtime, store: memoryStore({ runtime }) }
    const door = gate()
    const appOf =
      (answer: (req: Request, res: Response) => unknown): Parameters<typeof onSite>[0] =>
      (app, cached) => {
        app.use(cached())
        app.get('/a', answer)
      }
    const slow = appOf(async (_req, res) => {
      await door.opened
      res.send('slow')
    })
    const fast = appOf((_req, res) => res.send('fast'))
    await onSite(
      slow,
      async (there) => {
        const theirs = there
          .get('/a')
          .set('host', 'shop')
          .then(({ text }) => text)
        await there.seen('load', 1)
        await onSite(
          fast,
          async (here) => {
            let follows = false
            here.cache.on('follow', () => (follows = true))
            const ours = here
              .get('/a')
              .set('host', 'shop')
              .then(({ status, text }) => [status, text])
            await until(() => follows)
            await runtime.advance(WAIT_TIMEOUT + 1)
            expect(await ours).toEqual([200, 'fast'])
          },
          process,
        )
        door.open()
        expect(await theirs).toBe('slow')
      },
      process,
    )
  })
})

describe('in app mode, a URL of which a variant was stored', () => {
  test('keeps loadTimeout: a request for another variant gets a 504', async () => {
    await onSite(
      (app, cached) => {
        app.use(cached())
        app.get('/a', (req, res) => {
          res.set({ 'cache-control': 'max-age=60', vary: 'accept-language' })
          if (req.headers['accept-language'] === 'en') res.send('english')
        })
      },
      async ({ get, runtime, seen }) => {
        await get('/a').set('accept-language', 'en')
        const asked = get('/a')
          .set('accept-language', 'de')
          .then(({ status }) => status)
        await seen('load', 3)
        await runtime.advance(LOAD_TIMEOUT + 1)
        expect(await asked).toBe(504)
      },
    )
  })
})
