import { strict as assert } from 'node:assert'
import type { Ask } from './client.ts'
import { type ContractRequest, type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage, type Stage } from './stage.ts'
import { eventsDuring, warningsDuring } from './warnings.ts'

const lasting = { 'cache-control': 'public, max-age=10, stale-while-revalidate=600' }

interface KeyedRoute {
  /** What a request of the cache's own does not carry, and the key holds. */
  readonly what: string
  /** The field of a client's request that it comes from, and that the handler answers by. */
  readonly field: string
  readonly value: string
  readonly cache: ContractRoute['cache']
}

const inRouteMode = (extra: (request: never) => string): ContractRoute['cache'] => {
  const key: object = { extra }
  return { ttl: '10s', staleWhileRevalidate: '10m', key }
}

const ROUTES: readonly KeyedRoute[] = [
  {
    what: 'a tenant in key.extra',
    field: 'x-tenant',
    value: 'a',
    cache: inRouteMode(({ headers }: ContractRequest) => String(headers['x-tenant'])),
  },
  {
    what: 'a language in key.extra',
    field: 'accept-language',
    value: 'de',
    cache: inRouteMode(({ headers }: ContractRequest) => String(headers['accept-language'])),
  },
  {
    what: 'the framework’s address of the client in key.extra',
    field: 'x-forwarded-for',
    value: '10.0.0.1',
    cache: inRouteMode(({ ip }: { readonly ip: string }) => ip),
  },
  { what: 'credentials in app mode', field: 'authorization', value: 'Bearer a', cache: undefined },
]

/** A handler that answers by the field, and an asking client. */
function declare({ field, value, cache }: KeyedRoute): { readonly route: ContractRoute; readonly client: Ask } {
  const { handle } = counted((run, { headers }) => text(`${String(headers[field] ?? 'nobody')} #${run}`, lasting))
  return { route: { path: '/page', cache, handle }, client: { headers: { [field]: value } } }
}

/** Stores the client's response, lets it expire and waits until the refresh behind it is over. */
async function refreshOnce(stage: Stage, client: Ask, round: number = 1): Promise<void> {
  await stage.ask('/page', client)
  await stage.runtime.advance(11_000)
  await stage.ask('/page', client)
  await stage.seen('outcome', 2 * round)
}

/**
 * A request of the cache's own (a refresh, or the `GET` behind a `HEAD`) fills no other key than that of the
 * run that it made.
 */
export function describeOwnRequests({ factory, describe, test }: Contract): void {
  describe('a request of the cache’s own that comes to another key than its flight’s', () => {
    for (const keyed of ROUTES) {
      const { what, value } = keyed

      test(
        `(${what}) leaves the stored response as it is`,
        async () => {
          const { route, client } = declare(keyed)
          await onStage(factory, [route], async (stage) => {
            await refreshOnce(stage, client)
            for (let turn = 0; turn < 3; turn += 1)
              assert.match((await stage.ask('/page', client)).text, new RegExp(`^${value} #`))
          })
        },
        'time',
      )

      test(
        `(${what}) lets the next request of a client rebuild the entry`,
        async () => {
          const { route, client } = declare(keyed)
          await onStage(factory, [route], async (stage) => {
            await refreshOnce(stage, client)
            await stage.runtime.advance(60_000)
            const rebuilt = (await stage.ask('/page', client)).text
            assert.match(rebuilt, new RegExp(`^${value} #[2-9]$`))
            assert.equal((await stage.ask('/page', client)).text, rebuilt)
          })
        },
        'time',
      )

      test(`(${what}) stores nothing for a HEAD of a cold key`, async () => {
        const { route, client } = declare(keyed)
        await onStage(factory, [route], async (stage) => {
          assert.equal((await stage.ask('/page', { ...client, method: 'HEAD' })).status, 200)
          assert.match((await stage.ask('/page', client)).text, new RegExp(`^${value} #`))
        })
      })
    }

    test(
      'is told by the event refresh-rejected',
      async () => {
        const [keyed] = ROUTES
        assert.ok(keyed !== undefined)
        const { route, client } = declare(keyed)
        await onStage(factory, [route], async (stage) => {
          const events = await eventsDuring('cattlegrid:refresh-rejected', () => refreshOnce(stage, client))
          assert.deepEqual(
            events.map((event) => Reflect.get(event, 'why') as unknown),
            ['key'],
          )
        })
      },
      'time',
    )

    test(
      'is no refresh that meets a cache that was paused meanwhile',
      async () => {
        const { handle } = counted((run) => text(`run ${run}`))
        let pause = (): void => undefined
        let requests = 0
        const before: ContractRoute['before'] = () => {
          requests += 1
          // The third request is the refresh.
          if (requests === 3) pause()
          return {}
        }
        const cache = { ttl: '10s', staleWhileRevalidate: '10m' } as const
        const warnings = await warningsDuring('CATTLEGRID_REFRESH_REJECTED', () =>
          onStage(factory, [{ path: '/page', cache, before, handle }], async (stage) => {
            pause = () => stage.cache.pause()
            await refreshOnce(stage, {})
            assert.equal(requests, 3)
          }),
        )
        assert.deepEqual(warnings, [])
      },
      'time',
    )

    test(
      'is told once a route, by a warning that names key.headers and key.cookies',
      async () => {
        const [keyed] = ROUTES
        assert.ok(keyed !== undefined)
        const { route } = declare(keyed)
        const warnings = await warningsDuring('CATTLEGRID_REFRESH_REJECTED', () =>
          onStage(factory, [route], async (stage) => {
            for (const [index, tenant] of ['a', 'b'].entries())
              await refreshOnce(stage, { headers: { 'x-tenant': tenant } }, index + 1)
          }),
        )
        assert.equal(warnings.length, 1)
        assert.match(warnings[0]?.message ?? '', /key\.headers/)
        assert.match(warnings[0]?.message ?? '', /key\.cookies/)
      },
      'time',
    )
  })
}
