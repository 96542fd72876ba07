import { strict as assert } from 'node:assert'
import type { IncomingMessage } from 'node:http'
import { type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage, type Stage } from './stage.ts'
import { eventsDuring, warningsDuring } from './warnings.ts'

const ALL = { ttl: '1m', cacheStatus: true, audit: { rate: 1 } } as const

/** A layer outside the cache that knows who asks, and tells it in a way that no read of the request shows. */
function knowingLayer(): { readonly before: ContractRoute['before']; clientOf(req: IncomingMessage): string } {
  const clients = new WeakMap<IncomingMessage, string>()
  const before: ContractRoute['before'] = ({ headers, raw }) => {
    clients.set(raw.req, headers.cookie ?? 'nobody')
    return {}
  }
  return { before, clientOf: (req) => clients.get(req) ?? 'nobody' }
}

/** A page that names its client, by what a layer outside knows. */
function namingRoute(cache: ContractRoute['cache']): ContractRoute {
  const { before, clientOf } = knowingLayer()
  return { path: '/page', cache, before, handle: counted((_, { raw }) => text(`for ${clientOf(raw.req)}`)).handle }
}

async function statusOf(stage: Stage, cookie?: string): Promise<unknown> {
  return (await stage.ask('/page', cookie === undefined ? {} : { headers: { cookie } })).headers['cache-status']
}

async function resultsDuring(play: () => Promise<void>): Promise<readonly unknown[]> {
  return (await eventsDuring('cattlegrid:audit', play)).map((event) => Reflect.get(event, 'result') as unknown)
}

/** A response that others get is the same for another client: a sample of the requests shows it. */
export function describeAudits({ factory, describe, test }: Contract): void {
  describe('a request that is chosen for an audit', () => {
    test(
      'gets the response of its own handler, which runs once more for an anonymous request, and replaces the entry',
      async () => {
        const { before, clientOf } = knowingLayer()
        const seen: string[] = []
        const { handle } = counted((_, { raw }) => {
          seen.push(clientOf(raw.req))
          return text('the same')
        })
        await onStage(factory, [{ path: '/page', cache: ALL, before, handle }], async (stage) => {
          const results = await resultsDuring(async () => {
            assert.equal(await statusOf(stage, 'who=ann'), 'cattlegrid; fwd=uri-miss')
            await stage.seen('commit', 1)
            await stage.runtime.advance(1)
            assert.equal(await statusOf(stage), 'cattlegrid; fwd=request')
            await stage.seen('commit', 2)
          })
          assert.deepEqual(results, ['equal', 'equal'])
          assert.deepEqual(seen.toSorted(), ['nobody', 'nobody', 'nobody', 'who=ann'])
        })
      },
      'time',
    )

    test(
      'has its response kept for its own client if another client gets another one; the route is told of once, purged, and cached no more',
      async () => {
        const warnings = await warningsDuring('CATTLEGRID_AUDIT', () =>
          onStage(factory, [namingRoute(ALL)], async (stage) => {
            const invalidated: unknown[] = []
            stage.cache.on('invalidate', ({ how }) => invalidated.push(how))
            await statusOf(stage)
            await stage.seen('commit', 1)
            await stage.runtime.advance(1)
            assert.equal((await stage.ask('/page', { headers: { cookie: 'who=ann' } })).text, 'for who=ann')
            await stage.seen('outcome', 2)
            for (const name of ['who=bob', 'who=cid']) {
              const { text: page, headers } = await stage.ask('/page', { headers: { cookie: name } })
              assert.deepEqual([page, headers['cache-status']], [`for ${name}`, 'cattlegrid; fwd=bypass; detail=audit'])
            }
            assert.deepEqual(invalidated, ['tags'])
          }),
        )
        assert.equal(warnings.length, 1)
        assert.match(
          warnings[0]?.message ?? '',
          /handler of \/page .* differ in the body, from byte \d+ on \(a letter\)/,
        )
        assert.doesNotMatch(warnings[0]?.message ?? '', /ann|nobody/)
      },
      'time',
    )

    test(
      'has its response stored nevertheless with onMismatch: warn',
      async () => {
        const route = namingRoute({ ...ALL, audit: { rate: 1, onMismatch: 'warn' } })
        const warnings = await warningsDuring('CATTLEGRID_AUDIT', () =>
          onStage(factory, [route], async (stage) => {
            for (let turn = 1; turn <= 2; turn += 1) {
              await statusOf(stage, 'who=ann')
              await stage.seen('commit', turn)
              await stage.runtime.advance(1)
            }
          }),
        )
        assert.equal(warnings.length, 1)
      },
      'time',
    )

    test(
      'is compared with a request that has the same keyed fields and cookies, and the same fields of Vary',
      async () => {
        const { handle } = counted((_, { headers }) => {
          const page = `${String(headers['x-tenant'])}, ${headers.cookie}, ${headers['accept-language']}`
          // A handler may change its request: what is sent for the audit is what the client has sent.
          Object.assign(headers, { 'x-tenant': 'b', 'accept-language': 'en' })
          return text(page, { vary: 'accept-language' })
        })
        const cache = { ...ALL, key: { headers: ['x-tenant'], cookies: ['theme'] } }
        await onStage(factory, [{ path: '/page', cache, handle }], async (stage) => {
          const headers = { 'x-tenant': 'a', cookie: 'theme=dark', 'accept-language': 'de' }
          const results = await resultsDuring(async () => {
            assert.equal((await stage.ask('/page', { headers })).text, 'a, theme=dark, de')
            await stage.seen('outcome', 1)
          })
          assert.deepEqual(results, ['equal'])
        })
      },
      'node',
    )

    test('has its response stored where a layer outside refuses the anonymous request', async () => {
      const before: ContractRoute['before'] = ({ headers }) => ({ refuse: headers['x-login'] === undefined })
      const { handle } = counted(() => text('members only'))
      await onStage(factory, [{ path: '/page', cache: ALL, before, handle }], async (stage) => {
        const results = await resultsDuring(async () => {
          assert.equal((await stage.ask('/page', { headers: { 'x-login': 'yes' } })).status, 200)
          await stage.seen('commit', 1)
        })
        assert.deepEqual(results, ['not-run'])
      })
    })
  })
}
