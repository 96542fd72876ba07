import { strict as assert } from 'node:assert'
import type { Ask } from './client.ts'
import { type ContractRequest, counted, never, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '10s' } as const

/** Requests that bypass the cache: they read nothing from it, store nothing and wait for no other request. */
const PASSING: readonly (readonly [string, Ask])[] = [
  ['POST', { method: 'POST' }],
  ['Authorization', { headers: { authorization: 'Bearer a' } }],
  ['Authorization that is empty', { headers: { authorization: '' } }],
  ['Accept: text/event-stream', { headers: { accept: 'text/event-stream' } }],
]

/** Requests that a stored entry may answer, but whose own response no other client gets. */
const ALONE: readonly (readonly [string, Ask])[] = [
  ['a body', { headers: { 'content-length': '1' }, body: 'x' }],
  ['X-HTTP-Method-Override', { headers: { 'x-http-method-override': 'POST' } }],
  ['X-HTTP-Method', { headers: { 'x-http-method': 'PUT' } }],
  ['X-Method-Override', { headers: { 'x-method-override': 'DELETE' } }],
]

/**
 * Header fields that could change the response and are not part of the key. The cache hides them from the
 * leader's handler.
 */
const HIDDEN = {
  'if-none-match': '*',
  'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT',
  'if-match': '"other"',
  'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT',
  'if-range': '"other"',
  range: 'bytes=0-0',
  'x-forwarded-prefix': '/evil',
  forwarded: 'host=evil.example',
  'x-original-url': '/evil',
  'x-rewrite-url': '/evil',
}

/** The rules that decide which requests use the cache. */
export function describeEligible({ factory, describe, test }: Contract): void {
  describe('which requests use the cache', () => {
    for (const [what, request] of PASSING) {
      test(`a request with ${what} runs its own handler although an entry is fresh, and does not change the entry`, async () => {
        const origin = counted((run) => text(`run ${run}`))
        const path = '/passes'
        const routes = (['GET', 'POST'] as const).map((method) => ({ method, path, cache, handle: origin.handle }))
        await onStage(factory, routes, async (stage) => {
          assert.equal((await stage.ask(path)).text, 'run 1')
          assert.equal((await stage.ask(path, request)).text, 'run 2')
          assert.equal((await stage.ask(path, request)).text, 'run 3')
          assert.equal((await stage.ask(path)).text, 'run 1')
        })
      })

      test(`requests with ${what} do not wait for each other`, async () => {
        const gate = createGate()
        const origin = counted(async (run) => {
          if (run === 10) gate.open()
          await gate.opened
          return text('own')
        })
        const path = '/alone'
        const routes = (['GET', 'POST'] as const).map((method) => ({ method, path, cache, handle: origin.handle }))
        await onStage(factory, routes, async (stage) => {
          const asked = Array.from({ length: 10 }, () => stage.ask(path, request))
          for (const { text: body } of await Promise.all(asked)) assert.equal(body, 'own')
          assert.equal(origin.runs, 10)
        })
      })
    }

    for (const [what, request] of ALONE) {
      test(`a GET with ${what} gets a stored response, but the response of its own handler reaches no other client`, async () => {
        const origin = counted((run) => text(`run ${run}`))
        await onStage(factory, [{ path: '/own', cache, handle: origin.handle }], async (stage) => {
          assert.equal((await stage.ask('/own', request)).text, 'run 1')
          assert.equal((await stage.ask('/own')).text, 'run 2')
          assert.equal((await stage.ask('/own', request)).text, 'run 2')
        })
      })
    }

    test('the response to a request with Authorization reaches no other client', async () => {
      const origin = counted((_, { headers }) => text(`for ${headers.authorization}`))
      await onStage(factory, [{ path: '/me', cache, handle: origin.handle }], async (stage) => {
        const users = await stage.crowd(20, '/me', (client) => ({ headers: { authorization: `user ${client % 2}` } }))
        for (const [client, { text: body }] of users.entries()) assert.equal(body, `for user ${client % 2}`)
        assert.equal((await stage.ask('/me')).text, 'for undefined')
      })
    })

    test('a request with a cookie is a hit: a cookie alone does not make the handler run', async () => {
      const origin = counted((run) => text(`run ${run}`))
      await onStage(factory, [{ path: '/cookies', cache, handle: origin.handle }], async (stage) => {
        await stage.ask('/cookies')
        assert.equal((await stage.ask('/cookies', { headers: { cookie: 'tracker=1' } })).text, 'run 1')
      })
    })

    test('no request directive makes the handler run', async () => {
      const origin = counted((run) => text(`run ${run}`))
      await onStage(factory, [{ path: '/reload', cache, handle: origin.handle }], async (stage) => {
        await stage.ask('/reload')
        for (const control of ['no-cache', 'no-store', 'max-age=0', 'min-fresh=100', 'only-if-cached'])
          assert.equal((await stage.ask('/reload', { headers: { 'cache-control': control } })).text, 'run 1')
        assert.equal((await stage.ask('/reload', { headers: { pragma: 'no-cache' } })).text, 'run 1')
      })
    })

    test('the handler does not see the header fields by which one client could change the response for all', async () => {
      const seen: ContractRequest[] = []
      const origin = counted((_, request) => {
        seen.push(request)
        return text('one')
      })
      await onStage(factory, [{ path: '/poison', cache, handle: origin.handle }], async (stage) => {
        await stage.ask('/poison', { headers: HIDDEN })
        for (const name of Object.keys(HIDDEN)) assert.equal(seen[0]?.headers[name], undefined, name)
        const other = await stage.ask('/poison')
        assert.equal(other.status, 200)
        assert.equal(other.text, 'one')
        assert.equal(origin.runs, 1)
      })
    })

    test(
      'a target with an authority or a fragment is reduced to path and query, for the key and for the handler',
      async () => {
        for (const target of ['http://evil.example/target?a=1', '/target?a=1#evil']) {
          const origin = counted((run, { url }) => text(`run ${run} ${url}`))
          await onStage(factory, [{ path: '/target', cache, handle: origin.handle }], async (stage) => {
            const { host } = new URL(stage.origin)
            const { status, text: body } = await stage.ask(target, { headers: { host } })
            // Some frameworks match no route for such a target.
            if (status !== 404) assert.equal(body, 'run 1 /target?a=1')
            assert.equal((await stage.ask('/target?a=1')).text, 'run 1 /target?a=1')
          })
        }
      },
      'node',
    )

    test('a request bypasses the cache if the route is not enabled, the host is not listed, or its cookie excludes it', async () => {
      const hosts = ['shop.example'] as const
      const routes = [
        { path: '/off', cache: { ...cache, enabled: false } },
        { path: '/asked', cache: { ...cache, enabled: () => false } },
        { path: '/broken', cache: { ...cache, enabled: () => assert.fail('a bug') } },
        { path: '/hosts', cache: { ...cache, hosts } },
        { path: '/cookie', cache: { ...cache, cookies: 'bypass' } },
      ] as const
      for (const route of routes) {
        const origin = counted((run) => text(`run ${run}`))
        await onStage(factory, [{ ...route, handle: origin.handle }], async (stage) => {
          for (const run of [1, 2])
            assert.equal((await stage.ask(route.path, { headers: { cookie: 'a=1' } })).text, `run ${run}`, route.path)
        })
      }
    })

    test('a request without a cookie to a listed host uses the cache', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const route = { path: '/listed', cache: { ...cache, hosts: ['Shop.Example'], cookies: 'bypass' } } as const
      await onStage(factory, [{ ...route, handle: origin.handle }], async (stage) => {
        for (const host of ['shop.example', 'SHOP.example'])
          assert.equal((await stage.ask('/listed', { headers: { host } })).text, 'run 1')
      })
    })

    test('skip(request) makes a request bypass the cache', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const skip = (request: unknown): boolean => 'x-skip' in (request as ContractRequest).headers
      await onStage(factory, [{ path: '/skip', cache: { ttl: '10s', skip }, handle: origin.handle }], async (stage) => {
        assert.equal((await stage.ask('/skip')).text, 'run 1')
        assert.equal((await stage.ask('/skip', { headers: { 'x-skip': '1' } })).text, 'run 2')
        assert.equal((await stage.ask('/skip')).text, 'run 1')
      })
    })

    test('an unauthenticated request is rejected although the entry is fresh, and fills no entry', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const before = ({ headers }: ContractRequest) => ({ refuse: headers['x-user'] === undefined })
      await onStage(factory, [{ path: '/guarded', cache, before, handle: origin.handle }], async (stage) => {
        assert.equal((await stage.ask('/guarded')).status, 401)
        const known = { headers: { 'x-user': 'ada' } }
        assert.equal((await stage.ask('/guarded', known)).text, 'run 1')
        const stranger = await stage.ask('/guarded')
        assert.equal(stranger.status, 401)
        assert.ok(!stranger.text.includes('run'))
        assert.equal((await stage.ask('/guarded', known)).text, 'run 1')
      })
    })

    test('a handler that never ends for one request delays no other request of its route', async () => {
      const origin = counted((_, { headers }) => (headers.authorization === undefined ? text('well') : never()))
      await onStage(factory, [{ path: '/parallel', cache, handle: origin.handle }], async (stage) => {
        void stage.ask('/parallel', { headers: { authorization: 'x' } })
        assert.equal((await stage.ask('/parallel')).text, 'well')
      })
    })
  })
}
