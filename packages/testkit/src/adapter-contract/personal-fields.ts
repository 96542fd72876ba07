import { strict as assert } from 'node:assert'
import { type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'
import { warningsDuring } from './warnings.ts'

const cache = { ttl: '1m', cacheStatus: true } as const

/** A handler that looks at this field of its request, and answers by it. */
function reads(field: string): ContractRoute['handle'] {
  return counted((run, { headers }) => text(`${String(headers[field] ?? 'nobody')} #${run}`)).handle
}

/** A handler that looks at who asks has made a response for its own client. */
export function describePersonalFields({ factory, describe, test }: Contract): void {
  describe('in route mode, a handler that reads a field that identifies the client', () => {
    for (const field of ['cookie', 'authorization'] as const) {
      test(`(${field}) has its response kept for its own client`, async () => {
        await onStage(factory, [{ path: '/me', cache, handle: reads(field) }], async (stage) => {
          // Credentials go past the cache: the client without any fills the entry.
          assert.equal((await stage.ask('/me')).headers['cache-status'], 'cattlegrid; fwd=uri-miss; detail=personal')
          assert.equal((await stage.ask('/me')).text, 'nobody #2')
        })
      })

      test(
        `(${field}) is named once a route by a warning with the three cures`,
        async () => {
          const warnings = await warningsDuring('CATTLEGRID_PERSONAL_READ', () =>
            onStage(factory, [{ path: '/me', cache, handle: reads(field) }], async (stage) => {
              for (let turn = 0; turn < 3; turn += 1) await stage.ask('/me')
            }),
          )
          assert.equal(warnings.length, 1)
          for (const said of [`headers.${field}`, 'key.cookies', 'before', 'allowReads', 'personal-fields'])
            assert.ok(warnings[0]?.message.includes(said), `${warnings[0]?.message}: ${said}`)
        },
        'node',
      )
    }

    for (const field of ['x-api-key', 'x-tenant-id']) {
      const handle = (): ContractRoute['handle'] =>
        counted((run, { headers }) => text(`${String(headers[field])} #${run}`)).handle

      test(`(${field}) never answers another client’s request, whoever comes first`, async () => {
        await onStage(factory, [{ path: '/me', cache, handle: handle() }], async (stage) => {
          for (const value of ['ann', undefined, 'bob', 'ann'])
            assert.match(
              (await stage.ask('/me', { headers: value === undefined ? {} : { [field]: value } })).text,
              new RegExp(`^${String(value)} #`),
            )
        })
      })

      test(`(${field}) has its response stored where the field is in the key, or the response varies by it`, async () => {
        const varying = counted((run, { headers }) => text(`${String(headers[field])} #${run}`, { vary: field })).handle
        const routes = [
          { path: '/keyed', cache: { ...cache, key: { headers: [field] } }, handle: handle() },
          { path: '/varying', cache, handle: varying },
        ]
        await onStage(factory, routes, async (stage) => {
          for (const path of ['/keyed', '/varying'])
            for (const expected of ['ann #1', 'bob #2', 'ann #1', 'bob #2']) {
              const [value = ''] = expected.split(' ')
              assert.equal((await stage.ask(path, { headers: { [field]: value } })).text, expected)
            }
        })
      })
    }

    test('(a cookie) never answers another client’s request', async () => {
      await onStage(factory, [{ path: '/me', cache, handle: reads('cookie') }], async (stage) => {
        for (const cookie of ['sid=ann', 'sid=bob'])
          assert.match((await stage.ask('/me', { headers: { cookie } })).text, new RegExp(`^${cookie} #`))
      })
    })

    test('(a cookie that is in the key) has its response stored', async () => {
      const keyed = { ...cache, key: { cookies: ['sid'] } }
      const { handle } = counted((run, { headers }) => text(`${headers.cookie} #${run}`))
      await onStage(factory, [{ path: '/me', cache: keyed, handle }], async (stage) => {
        for (const expected of ['sid=ann #1', 'sid=bob #2', 'sid=ann #1']) {
          const [cookie = ''] = expected.split(' ')
          assert.equal((await stage.ask('/me', { headers: { cookie } })).text, expected)
        }
      })
    })

    test('(a cookie that allowReads names) has its response stored', async () => {
      const allowing: Readonly<Record<string, unknown>> = { ttl: '1m', allowReads: ['cookie'] }
      const { handle } = counted((run, { headers }) => text(`${headers.cookie === undefined} #${run}`))
      await onStage(factory, [{ path: '/me', cache: allowing, handle }], async (stage) => {
        for (let turn = 0; turn < 2; turn += 1) assert.equal((await stage.ask('/me')).text, 'true #1')
      })
    })

    test('(a read of a layer outside the cache) has its response stored', async () => {
      const { handle } = counted((run) => text(`run ${run}`))
      const before: ContractRoute['before'] = ({ headers }) => ({
        headers: { 'x-reader': String(headers.cookie ?? headers.authorization) },
      })
      await onStage(factory, [{ path: '/page', cache, before, handle }], async (stage) => {
        for (let turn = 0; turn < 2; turn += 1) assert.equal((await stage.ask('/page')).text, 'run 1')
      })
    })
  })
}
