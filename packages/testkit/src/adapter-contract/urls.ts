import { strict as assert } from 'node:assert'
import type { Ask } from './client.ts'
import { type ContractRequest, counted, json, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const ttl = '10s'

/** The parts of a URL that belong to a route's key; the handler sees no other parameters. */
export function describeUrls({ factory, describe, test }: Contract): void {
  describe('the key of a route', () => {
    const rules = [
      ['a list of names', ['page']],
      ['names to ignore', { ignore: ['utm', 'a'] }],
    ] as const
    for (const [what, query] of rules) {
      test(`a parameter left out by ${what} is not in the key, and no handler sees it`, async () => {
        const origin = counted((run, { url, query: parsed }) => json({ run, url, parsed }))
        await onStage(factory, [{ path: '/list', cache: { ttl, query }, handle: origin.handle }], async (stage) => {
          const seen = JSON.stringify({ run: 1, url: '/list?page=2', parsed: { page: '2' } })
          for (const target of ['/list?utm=evil&page=2', '/list?page=2', '/list?page=2&utm[x]=1&a=%3Cevil%3E'])
            assert.equal((await stage.ask(target)).text, seen, target)
          assert.match((await stage.ask('/list?page=3')).text, /"run":2/)
        })
      })
    }

    test('the order of listed parameters makes no difference, and the handler sees them sorted', async () => {
      const origin = counted((run, { url }) => text(`${run} ${url}`))
      const cache = { ttl, query: ['page', 'by'] } as const
      await onStage(factory, [{ path: '/sorted', cache, handle: origin.handle }], async (stage) => {
        for (const target of ['/sorted?page=2&by=name', '/sorted?by=name&page=2'])
          assert.equal((await stage.ask(target)).text, '1 /sorted?by=name&page=2')
      })
    })

    test('all queries share one entry with query: false', async () => {
      const origin = counted((run, { url }) => text(`${run} ${url}`))
      await onStage(
        factory,
        [{ path: '/none', cache: { ttl, query: false }, handle: origin.handle }],
        async (stage) => {
          for (const target of ['/none?a=1', '/none?b=2', '/none'])
            assert.equal((await stage.ask(target)).text, '1 /none')
        },
      )
    })

    const keyed: readonly (readonly [string, object, Ask, Ask])[] = [
      [
        'a field',
        { headers: ['X-Currency'] },
        { headers: { 'x-currency': 'eur' } },
        { headers: { 'x-currency': 'usd' } },
      ],
      ['a field that is absent', { headers: ['x-currency'] }, {}, { headers: { 'x-currency': '' } }],
      [
        'a cookie',
        { cookies: ['theme'] },
        { headers: { cookie: 'a=1; theme=dark' } },
        { headers: { cookie: 'theme=light' } },
      ],
      [
        'a function’s word',
        { extra: ({ headers }: ContractRequest) => String(headers['x-tenant']) },
        { headers: { 'x-tenant': 'a' } },
        { headers: { 'x-tenant': 'b' } },
      ],
    ]
    for (const [what, key, one, other] of keyed) {
      test(`${what} can be part of the key`, async () => {
        const origin = counted((run) => text(`run ${run}`))
        await onStage(factory, [{ path: '/keyed', cache: { ttl, key }, handle: origin.handle }], async (stage) => {
          for (const run of [1, 2, 1, 2])
            assert.equal((await stage.ask('/keyed', run === 1 ? one : other)).text, `run ${run}`)
        })
      })
    }

    test('a cookie that is not in the key makes no difference', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const key = { cookies: ['theme'] } as const
      await onStage(factory, [{ path: '/cookie', cache: { ttl, key }, handle: origin.handle }], async (stage) => {
        for (const cookie of ['theme=dark; id=1', 'id=2; theme=dark; theme=light'])
          assert.equal((await stage.ask('/cookie', { headers: { cookie } })).text, 'run 1')
      })
    })

    test('a request whose key function throws bypasses the cache', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const key = { extra: () => assert.fail('a bug') }
      await onStage(factory, [{ path: '/broken', cache: { ttl, key }, handle: origin.handle }], async (stage) => {
        for (const run of [1, 2]) assert.equal((await stage.ask('/broken')).text, `run ${run}`)
      })
    })

    test('a handler sees no forwarded scheme or host but the trusted one', async () => {
      const origin = counted((_, { headers }) => json([headers['x-forwarded-proto'], headers['x-forwarded-host']]))
      await onStage(factory, [{ path: '/proto', cache: { ttl }, handle: origin.handle }], async (stage) => {
        const list = { 'x-forwarded-proto': 'https, https', 'x-forwarded-host': 'shop.example, shop.example' }
        // Some frameworks do not trust these fields.
        const seen = JSON.parse((await stage.ask('/proto', { headers: list })).text) as unknown[]
        assert.ok([null, 'https'].includes(seen[0] as null | string))
        assert.ok([null, 'shop.example'].includes(seen[1] as null | string))
      })
    })
  })
}
