import { strict as assert } from 'node:assert'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '10s', staleWhileRevalidate: '1m' } as const
const inLanguage = (language: string) => ({ headers: { 'accept-language': language } })

/** Responses with `Vary`, which the handler chose by request fields. */
export function describeVariants({ factory, describe, test }: Contract): void {
  const spoken = () =>
    counted((run, { headers }) => text(`${String(headers['accept-language'])} ${run}`, { vary: 'Accept-Language' }))

  describe('responses that vary', () => {
    test('are stored one by one, and each client gets its own variant', async () => {
      const origin = spoken()
      await onStage(factory, [{ path: '/vary', cache, handle: origin.handle }], async (stage) => {
        for (const round of [1, 2]) {
          assert.equal((await stage.ask('/vary', inLanguage('de'))).text, 'de 1', `round ${round}`)
          assert.equal((await stage.ask('/vary', inLanguage('en'))).text, 'en 2', `round ${round}`)
          assert.equal((await stage.ask('/vary', inLanguage(' en '))).text, 'en 2', `round ${round}`)
        }
        assert.equal((await stage.ask('/vary', inLanguage('de'))).headers['vary'], 'Accept-Language')
        assert.equal(origin.runs, 2)
      })
    })

    test('an absent field is not an empty one', async () => {
      const origin = counted((run) => text(`run ${run}`, { vary: 'x-kind' }))
      await onStage(factory, [{ path: '/vary', cache, handle: origin.handle }], async (stage) => {
        assert.equal((await stage.ask('/vary')).text, 'run 1')
        assert.equal((await stage.ask('/vary', { headers: { 'x-kind': '' } })).text, 'run 2')
        assert.equal((await stage.ask('/vary')).text, 'run 1')
      })
    })

    test('40 concurrent clients with two languages cause two runs, although the Vary is not known yet', async () => {
      const gate = createGate()
      const origin = counted(async (_, { headers }) => {
        await gate.opened
        return text(String(headers['accept-language']), { vary: 'accept-language' })
      })
      await onStage(factory, [{ path: '/vary', cache, handle: origin.handle }], async (stage) => {
        const language = (client: number): string => (client % 2 === 0 ? 'de' : 'en')
        const crowd = stage.crowd(40, '/vary', (client) => inLanguage(language(client)))
        await stage.seen('join', 39)
        gate.open()
        for (const [client, { text: body }] of (await crowd).entries()) assert.equal(body, language(client))
        assert.equal(origin.runs, 2)
      })
    })

    test(
      'a known variant that has expired is refreshed in the background by a request with its own fields',
      async () => {
        const origin = spoken()
        await onStage(factory, [{ path: '/vary', cache, handle: origin.handle }], async (stage) => {
          await stage.ask('/vary', inLanguage('de'))
          await stage.ask('/vary', inLanguage('en'))
          await stage.runtime.advance(11_000)
          assert.equal((await stage.ask('/vary', inLanguage('en'))).text, 'en 2')
          await stage.seen('load', 4)
          await stage.seen('outcome', 4)
          assert.equal((await stage.ask('/vary', inLanguage('en'))).text, 'en 3')
          assert.equal((await stage.ask('/vary', inLanguage('de'))).text, 'de 1')
        })
      },
      'time',
    )

    test('Accept-Encoding is normalised, for the key and for the handler', async () => {
      const origin = counted((run, { headers }) =>
        text(`${run} ${String(headers['accept-encoding'])}`, { vary: 'Accept-Encoding' }),
      )
      await onStage(factory, [{ path: '/coded', cache, handle: origin.handle }], async (stage) => {
        for (const coding of ['gzip, br', 'br;q=1.0,gzip;q=0.5', 'x-own, BR, deflate, gzip'])
          assert.equal((await stage.ask('/coded', { headers: { 'accept-encoding': coding } })).text, '1 br, gzip')
        assert.equal((await stage.ask('/coded', { headers: { 'accept-encoding': 'br' } })).text, '2 br')
      })
    })

    test(
      'a response with a longer Vary replaces the known Vary, and no earlier variant is served',
      async () => {
        const origin = counted((run, { headers }) =>
          text(`${run} ${String(headers['x-kind'])}`, {
            vary: run === 1 ? 'accept-language' : 'accept-language, x-kind',
          }),
        )
        const route = { path: '/more', cache: { ttl: '10s' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          await stage.ask('/more')
          await stage.runtime.advance(11_000)
          assert.equal((await stage.ask('/more', { headers: { 'x-kind': 'a' } })).text, '2 a')
          assert.equal((await stage.ask('/more', { headers: { 'x-kind': 'b' } })).text, '3 b')
          assert.equal((await stage.ask('/more', { headers: { 'x-kind': 'a' } })).text, '4 a')
          assert.equal((await stage.ask('/more', { headers: { 'x-kind': 'b' } })).text, '3 b')
          assert.equal((await stage.ask('/more', { headers: { 'x-kind': 'a' } })).text, '4 a')
        })
      },
      'time',
    )

    for (const status of [400, 500]) {
      test(`a ${status} that varies is shared only with clients whose fields match`, async () => {
        const gate = createGate()
        const origin = counted(async (_, { headers }) => {
          await gate.opened
          return text(String(headers['accept-language']), { vary: 'accept-language' }, status)
        })
        await onStage(factory, [{ path: '/vary', cache, handle: origin.handle }], async (stage) => {
          const language = (client: number): string => (client % 2 === 0 ? 'de' : 'en')
          const crowd = stage.crowd(10, '/vary', (client) => inLanguage(language(client)))
          await stage.seen('join', 9)
          gate.open()
          for (const [client, received] of (await crowd).entries())
            if (received.status === status) assert.equal(received.text, language(client))
            else assert.equal(received.status, 503)
        })
      })
    }

    test('one variant more than maxVariants evicts the oldest', async () => {
      const origin = spoken()
      const route = { path: '/many', cache: { ...cache, maxVariants: 2 }, handle: origin.handle } as const
      await onStage(factory, [route], async (stage) => {
        for (const language of ['de', 'en', 'fr']) await stage.ask('/many', inLanguage(language))
        assert.equal((await stage.ask('/many', inLanguage('fr'))).text, 'fr 3')
        assert.equal((await stage.ask('/many', inLanguage('en'))).text, 'en 2')
        assert.equal((await stage.ask('/many', inLanguage('de'))).text, 'de 4')
      })
    })

    test('a Vary on a field with a value for nearly every client is stored only if the route names the field', async () => {
      const origin = counted((run) => text(`run ${run}`, { vary: 'user-agent' }))
      const route = {
        path: '/agent',
        cache: { ...cache, unsafeVaryOn: ['User-Agent'] },
        handle: origin.handle,
      } as const
      await onStage(factory, [route], async (stage) => {
        for (const agent of ['a', 'b', 'a', 'b'])
          assert.equal(
            (await stage.ask('/agent', { headers: { 'user-agent': agent } })).text,
            agent === 'a' ? 'run 1' : 'run 2',
          )
      })
    })

    test('the Vary: Origin of a layer outside stays on each response, and makes no variants', async () => {
      const origin = counted((run) => text(`run ${run}`, { 'x-inside': '1' }))
      const before = () => ({ headers: { vary: 'Origin' } })
      await onStage(factory, [{ path: '/outer', cache, before, handle: origin.handle }], async (stage) => {
        await stage.ask('/outer', { headers: { origin: 'http://a.example' } })
        const hit = await stage.ask('/outer', { headers: { origin: 'http://b.example' } })
        assert.equal(hit.text, 'run 1')
        assert.equal(hit.headers['vary'], 'Origin')
      })
    })

    test('Cache-Status distinguishes a missing variant from a missing URL', async () => {
      const origin = spoken()
      const route = { path: '/vary', cache: { ...cache, cacheStatus: true }, handle: origin.handle } as const
      await onStage(factory, [route], async (stage) => {
        const statusOf = async (language: string): Promise<string> =>
          String((await stage.ask('/vary', inLanguage(language))).headers['cache-status'])
        assert.match(await statusOf('de'), /^cattlegrid; fwd=uri-miss/)
        assert.match(await statusOf('en'), /^cattlegrid; fwd=vary-miss/)
        assert.match(await statusOf('en'), /^cattlegrid; hit; ttl=\d+$/)
      })
    })

    test('HEAD has the fields of its own variant', async () => {
      const origin = spoken()
      await onStage(factory, [{ path: '/vary', cache, handle: origin.handle }], async (stage) => {
        const { status, headers } = await stage.ask('/vary', { method: 'HEAD', ...inLanguage('de') })
        assert.deepEqual([status, headers['content-length']], [200, '4'])
        assert.match((await stage.ask('/vary', inLanguage('de'))).text, /^de /)
        assert.ok(origin.runs <= 2)
      })
    })
  })
}
