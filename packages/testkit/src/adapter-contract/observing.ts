import { strict as assert } from 'node:assert'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { memoryStore, type Store } from '@cattlegrid/core'
import type { Received } from './client.ts'
import { counted, json, nothing, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage, type Stage } from './stage.ts'

const cache = { ttl: '10s', staleWhileRevalidate: '10s', cacheStatus: true, mode: 'observe' } as const

const statusOf = ({ headers }: Received): string | undefined => headers['cache-status']?.replace('cattlegrid; ', '')
const would = (what: string): string => `fwd=bypass; detail=would-${what}`

interface Observed {
  readonly would: string
  readonly why: string | undefined
  readonly status: number | undefined
}

/** The observations of the requests that `play` sends. */
async function observed(play: (words: readonly string[]) => Promise<void>): Promise<readonly string[]> {
  const words: string[] = []
  const told = new Set<unknown>()
  const note = (message: unknown): void => {
    // So that a double word says which it was: two observations, or one that came twice.
    if (told.has(message)) words.push('again:')
    told.add(message)
    const { would: word, why, status } = message as Observed
    words.push([word, why, status].filter((part) => part !== undefined).join(' '))
  }
  subscribe('cattlegrid:observe', note)
  try {
    await play(words)
    return words
  } finally {
    unsubscribe('cattlegrid:observe', note)
  }
}

/**
 * The cache publishes an observation after it has stored the trace, which may be after the client has
 * the response.
 */
const settled = async (stage: Stage): Promise<void> => {
  await stage.runtime.advance(0)
  await new Promise(setImmediate)
}

/** A shared store that answers no step: a server that accepts connections and is then stopped. */
function silentStore(): Store {
  const silent = (): Promise<never> => new Promise(() => {})
  const steps = { read: silent, acquire: silent, renew: silent, commit: silent, release: silent, put: silent }
  const others = { invalidate: silent, invalidateTags: silent, tagNumbers: silent, clear: silent, inspect: silent }
  return Object.assign(memoryStore(), { shared: true, peek: () => undefined, ping: silent, ...steps, ...others })
}

/** In observe mode every handler runs, and the cache reports what it would have done. */
export function describeObserving({ factory, describe, test: testAnywhere }: Contract): void {
  // The cache reads the store while the handler runs. With a store over the network, either may be the first
  // to end.
  const test = (title: string, play: () => Promise<void>): void => testAnywhere(title, play, 'time')
  describe('a route that only observes', () => {
    test('obeys the max-age of a client as a route that serves, by the whole age of the response', async () => {
      const origin = counted(() => text('one', { age: '30' }))
      const obeying = { ...cache, ttl: '1m', clientDirectives: () => true } as const
      await onStage(factory, [{ path: '/watched', cache: obeying, handle: origin.handle }], async (stage) => {
        const ask = async (field: string): Promise<string | undefined> => {
          const received = await stage.ask('/watched', { headers: { 'cache-control': field } })
          await settled(stage)
          return statusOf(received)
        }
        assert.equal(await ask('max-age=60'), would('store'))
        await stage.runtime.advance(5000)
        assert.deepEqual([await ask('max-age=35'), await ask('max-age=34')], [would('hit'), would('store')])
      })
    })

    test('runs the handler of every request, and reports misses, hits with their ttl, and stale hits', async () => {
      const origin = counted((run) => text(`run ${run}`))
      await onStage(factory, [{ path: '/watched', cache, handle: origin.handle }], async (stage) => {
        const words = await observed(async () => {
          for (const [index, expected] of ['store', 'hit', 'hit'].entries()) {
            const received = await stage.ask('/watched')
            await settled(stage)
            assert.equal(received.text, `run ${index + 1}`)
            assert.equal(statusOf(received), would(expected))
          }
          await stage.runtime.advance(10_001)
          assert.equal(statusOf(await stage.ask('/watched')), would('stale'))
          await settled(stage)
          assert.equal(statusOf(await stage.ask('/watched')), would('hit'))
          await settled(stage)
        })
        assert.deepEqual(words, ['store 200', 'hit 200', 'hit 200', 'stale 200', 'hit 200'])
        assert.equal(origin.runs, 5)
      })
    })

    test('lets no request wait: one that would have followed runs its own handler', async () => {
      const gate = createGate()
      const origin = counted(async (run) => {
        if (run === 1) await gate.opened
        return text(`run ${run}`)
      })
      await onStage(factory, [{ path: '/crowded', cache, handle: origin.handle }], async (stage) => {
        const words = await observed(async () => {
          const first = stage.ask('/crowded')
          while (origin.runs === 0) await new Promise(setImmediate)
          const second = await stage.ask('/crowded')
          assert.deepEqual([second.text, statusOf(second)], ['run 2', would('collapse')])
          gate.open()
          assert.equal((await first).text, 'run 1')
          await settled(stage)
        })
        assert.deepEqual(words, ['collapse 200', 'store 200'])
      })
    })

    test('reports why a response would have been unshareable, and why a request would have bypassed the cache', async () => {
      const origin = counted((_, { headers }) =>
        text('one', headers['x-mode'] === undefined ? {} : { 'set-cookie': 'a=1' }),
      )
      const failing = counted(() => text('oops', {}, 500))
      const routes = [
        { path: '/why', cache, handle: origin.handle },
        { path: '/fails', cache, handle: failing.handle },
        { path: '/large', cache: { ...cache, maxBodyBytes: 2 }, handle: counted(() => text('one')).handle },
      ]
      await onStage(factory, routes, async (stage) => {
        const words = await observed(async () => {
          const cookie = await stage.ask('/why', { headers: { 'x-mode': 'cookie' } })
          assert.equal(statusOf(cookie), would('run/set-cookie'))
          assert.deepEqual(cookie.cookies, ['a=1'])
          const authorized = await stage.ask('/why', { headers: { authorization: 'x' } })
          assert.equal(statusOf(authorized), 'fwd=bypass; detail=authorization')
          assert.equal(statusOf(await stage.ask('/fails')), would('run/status'))
          assert.equal(statusOf(await stage.ask('/fails')), would('run/status'))
          assert.equal(statusOf(await stage.ask('/large')), would('run/too-large'))
          assert.equal(statusOf(await stage.ask('/why')), would('store'))
          await settled(stage)
        })
        assert.deepEqual(words, [
          'run set-cookie 200',
          'run authorization',
          'run status 500',
          'run status 500',
          'run too-large 200',
          'store 200',
        ])
      })
    })

    test('leaves its client’s request unchanged, and knows what the whole response would have been', async () => {
      const seen: unknown[] = []
      const origin = counted((_, { method, url, headers }) => {
        seen.push([method, url, headers['if-none-match'], headers['x-original-url']])
        return headers['if-none-match'] === undefined ? text('one', { etag: '"a"' }) : nothing(304, { etag: '"a"' })
      })
      const route = { path: '/same', cache: { ...cache, query: ['page'] }, handle: origin.handle }
      await onStage(factory, [route], async (stage) => {
        const headers = { 'if-none-match': '"a"', 'x-original-url': '/evil' }
        const revalidated = await stage.ask('/same?page=1&utm=2', { headers })
        assert.deepEqual([revalidated.status, statusOf(revalidated)], [304, would('store')])
        await settled(stage)
        assert.equal(statusOf(await stage.ask('/same?page=1')), would('hit'))
        assert.deepEqual(seen[0], ['GET', '/same?page=1&utm=2', '"a"', '/evil'])
      })
    })

    test('distinguishes variants, and forgets invalidated entries', async () => {
      const origin = counted((_, { headers }) => json(headers['accept-language'], { vary: 'Accept-Language' }))
      const route = { path: '/varies', cache: { ...cache, tags: ['all'] }, handle: origin.handle }
      await onStage(factory, [route], async (stage) => {
        const ask = async (language: string): Promise<string | undefined> => {
          const received = await stage.ask('/varies', { headers: { 'accept-language': language } })
          await settled(stage)
          return statusOf(received)
        }
        const words = [await ask('en'), await ask('de'), await ask('en'), await ask('de')]
        assert.deepEqual(words, ['store', 'store', 'hit', 'hit'].map(would))
        await stage.cache.invalidateTags(['all'])
        assert.equal(await ask('en'), would('store'))
      })
    })

    test('stores nothing that a serving route could use', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const routes = [{ path: '/later', cache, handle: origin.handle }]
      const serving = [{ path: '/later', cache: { ttl: '10s', cacheStatus: true }, handle: origin.handle }] as const
      await onStage(factory, routes, async (stage) => {
        await stage.ask('/later')
        await settled(stage)
        const server = await factory.start(stage.cache, serving)
        try {
          const first = await stage.askElsewhere(server.origin, '/later', {
            headers: { host: new URL(stage.origin).host },
          })
          assert.equal(first.text, 'run 2')
          assert.match(String(first.headers['cache-status']), /fwd=uri-miss/)
        } finally {
          await server.close()
        }
      })
    })

    testAnywhere('foretells hits of whatever store the cache has, once its answer is there in time', async () => {
      // Each run takes longer than the one before, until the store answers before the handler sends its head.
      const origin = counted(async (run) => {
        await new Promise((resolve) => setTimeout(resolve, run))
        return text(`run ${run}`)
      })
      await onStage(factory, [{ path: '/anywhere', cache, handle: origin.handle }], async (stage) => {
        const words = await observed(async (sofar) => {
          while (sofar.at(-1) !== 'hit 200' && origin.runs < 200) {
            const expected = `run ${origin.runs + 1}`
            assert.equal((await stage.ask('/anywhere')).text, expected)
            await settled(stage)
          }
        })
        assert.ok(words.includes('store 200'), `observed ${words.join(', ')}`)
        assert.equal(words.at(-1), 'hit 200', `observed ${words.join(', ')}`)
      })
    })

    test('delays no request for a store that never answers', async () => {
      const silent = { ...factory, openStore: async () => ({ store: silentStore(), close: async () => {} }) }
      const origin = counted((run) => text(`run ${run}`))
      await onStage(
        silent,
        [{ path: '/silent', cache, handle: origin.handle }],
        async (stage) => {
          for (const run of [1, 2]) assert.equal((await stage.ask('/silent')).text, `run ${run}`)
        },
        { storeTimeout: '30s' },
      )
    })
  })
}
