import { strict as assert } from 'node:assert'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const fields = { etag: '"v1"' }

/** Range requests, and request directives of `Cache-Control` on routes that honour them. */
export function describeRanges({ factory, describe, test }: Contract): void {
  describe('a range of a stored body', () => {
    const PARTS: readonly (readonly [string, string, string])[] = [
      ['bytes=0-3', '0123', 'bytes 0-3/10'],
      ['bytes=4-', '456789', 'bytes 4-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=8-99', '89', 'bytes 8-9/10'],
    ]
    for (const [range, part, where] of PARTS) {
      test(`${range} gets 206 if the route allows it`, async () => {
        const origin = counted(() => text('0123456789', fields))
        await onStage(
          factory,
          [{ path: '/r', cache: { ttl: '1h', range: true }, handle: origin.handle }],
          async (stage) => {
            // The handler never sees the Range field, although this client leads.
            const first = await stage.ask('/r', { headers: { range } })
            assert.deepEqual([first.status, first.text], [200, '0123456789'])
            const { status, text: body, headers } = await stage.ask('/r', { headers: { range } })
            assert.deepEqual([status, body, headers['content-range']], [206, part, where])
            assert.equal(headers['content-length'], String(part.length))
            assert.equal(origin.runs, 1)
          },
        )
      })
    }

    for (const request of [
      { range: 'bytes=0-1,4-5' },
      { range: 'lines=0-1' },
      { range: 'bytes=3-1' },
      { range: 'bytes=0-3', 'if-range': '"v0"' },
      { range: 'bytes=0-3', 'if-range': 'W/"v1"' },
    ]) {
      test(`${JSON.stringify(request)} gets the whole response`, async () => {
        const origin = counted(() => text('0123456789', fields))
        await onStage(
          factory,
          [{ path: '/r', cache: { ttl: '1h', range: true }, handle: origin.handle }],
          async (stage) => {
            await stage.ask('/r')
            const { status, text: body } = await stage.ask('/r', { headers: request })
            assert.deepEqual([status, body], [200, '0123456789'])
          },
        )
      })
    }

    test('a range behind the end is rejected, with the length', async () => {
      const origin = counted(() => text('0123456789', fields))
      await onStage(
        factory,
        [{ path: '/r', cache: { ttl: '1h', range: true }, handle: origin.handle }],
        async (stage) => {
          await stage.ask('/r')
          const { status, headers } = await stage.ask('/r', { headers: { range: 'bytes=10-' } })
          assert.deepEqual([status, headers['content-range']], [416, 'bytes */10'])
          const same = await stage.ask('/r', { headers: { range: 'bytes=0-1', 'if-range': '"v1"' } })
          assert.deepEqual([same.status, same.headers['accept-ranges']], [206, 'bytes'])
        },
      )
    })

    test('a range gets the whole response without the option', async () => {
      const origin = counted(() => text('0123456789'))
      await onStage(factory, [{ path: '/r', cache: { ttl: '1h' }, handle: origin.handle }], async (stage) => {
        await stage.ask('/r')
        assert.equal((await stage.ask('/r', { headers: { range: 'bytes=0-1' } })).status, 200)
      })
    })
  })

  describe('request directives that the route honours', () => {
    const clientDirectives = (request: unknown): boolean =>
      'x-inside' in (request as { headers: Record<string, unknown> }).headers
    const cache = { ttl: '1h', clientDirectives } as const
    const withDirective = (field: string) => ({ headers: { 'x-inside': '1', 'cache-control': field } })

    test(
      'no-cache and max-age make the handler run, and its response is for all clients',
      async () => {
        const origin = counted((run) => text(`run ${run}`))
        await onStage(factory, [{ path: '/d', cache, handle: origin.handle }], async (stage) => {
          await stage.ask('/d')
          await stage.runtime.advance(5000)
          assert.equal((await stage.ask('/d', withDirective('max-age=10'))).text, 'run 1')
          assert.equal((await stage.ask('/d', withDirective('max-age=4'))).text, 'run 2')
          await stage.runtime.advance(10)
          assert.equal((await stage.ask('/d', withDirective('no-cache'))).text, 'run 3')
          assert.equal((await stage.ask('/d')).text, 'run 3')
          assert.equal((await stage.ask('/d', { headers: { 'cache-control': 'no-cache' } })).text, 'run 3')
        })
      },
      'time',
    )

    test(
      'only-if-cached with max-age or no-cache gets 504 where the stored response is older, also by its Age when it was stored',
      async () => {
        const origin = counted((run) => text(`run ${run}`, { age: '30' }))
        await onStage(factory, [{ path: '/d', cache, handle: origin.handle }], async (stage) => {
          const status = async (field: string): Promise<number> =>
            (await stage.ask('/d', withDirective(`${field}, only-if-cached`))).status
          await stage.ask('/d')
          await stage.runtime.advance(5000)
          assert.deepEqual([await status('max-age=35'), await status('max-age=34')], [200, 504])
          assert.deepEqual([await status('max-age=0'), await status('no-cache')], [504, 504])
          assert.equal(origin.runs, 1)
        })
      },
      'time',
    )

    test(
      'max-age counts the age of the stored response when it was stored, too, and is fwd=request only where that is what decides',
      async () => {
        const origin = counted((run) => text(`run ${run}`, { age: '30' }))
        const routes = [{ path: '/d', cache: { ...cache, cacheStatus: true }, handle: origin.handle }]
        await onStage(factory, routes, async (stage) => {
          const ask = async (field: string): Promise<readonly string[]> => {
            const received = await stage.ask('/d', withDirective(field))
            return [received.text, String(received.headers['cache-status']).replace(/(; stored)?; ttl.*$/, '')]
          }
          assert.deepEqual(await ask('max-age=60'), ['run 1', 'cattlegrid; fwd=uri-miss'])
          await stage.runtime.advance(5000)
          assert.deepEqual(await ask('max-age=35'), ['run 1', 'cattlegrid; hit'])
          assert.deepEqual(await ask('max-age=34'), ['run 2', 'cattlegrid; fwd=request'])
          await stage.runtime.advance(10)
          assert.deepEqual(await ask('max-age=20'), ['run 3', 'cattlegrid; fwd=request'])
          assert.equal((await stage.ask('/d')).text, 'run 3')
        })
      },
      'time',
    )

    test(
      'max-age replaces the variant that is too old, and leaves the other variants',
      async () => {
        const origin = counted((run, { headers }) =>
          text(`run ${run} ${String(headers['accept-language'])}`, { vary: 'Accept-Language' }),
        )
        await onStage(factory, [{ path: '/d', cache, handle: origin.handle }], async (stage) => {
          const ask = async (language: string, field?: string): Promise<string> => {
            const headers = field === undefined ? {} : withDirective(field).headers
            return (await stage.ask('/d', { headers: { ...headers, 'accept-language': language } })).text
          }
          assert.deepEqual([await ask('de'), await ask('en')], ['run 1 de', 'run 2 en'])
          await stage.runtime.advance(5000)
          assert.equal(await ask('de', 'max-age=4'), 'run 3 de')
          assert.deepEqual([await ask('en'), await ask('de')], ['run 2 en', 'run 3 de'])
        })
      },
      'time',
    )

    test(
      'a client that gives a max-age gets no stale response',
      async () => {
        const origin = counted((run) => text(`run ${run}`))
        const stale = { clientDirectives, ttl: '10s', staleWhileRevalidate: '1m' } as const
        await onStage(factory, [{ path: '/d', cache: stale, handle: origin.handle }], async (stage) => {
          await stage.ask('/d')
          await stage.runtime.advance(11_000)
          assert.equal((await stage.ask('/d', withDirective('max-age=60'))).text, 'run 2')
        })
      },
      'time',
    )

    test('no-store bypasses the cache, and only-if-cached never runs the handler', async () => {
      const origin = counted((run) => text(`run ${run}`))
      await onStage(factory, [{ path: '/d', cache, handle: origin.handle }], async (stage) => {
        assert.equal((await stage.ask('/d', withDirective('only-if-cached'))).status, 504)
        assert.equal(origin.runs, 0)
        assert.equal((await stage.ask('/d')).text, 'run 1')
        assert.equal((await stage.ask('/d', withDirective('only-if-cached'))).text, 'run 1')
        assert.equal((await stage.ask('/d', withDirective('no-store'))).text, 'run 2')
        assert.equal((await stage.ask('/d')).text, 'run 1')
      })
    })
  })
}
