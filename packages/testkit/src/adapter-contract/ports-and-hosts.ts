import { strict as assert } from 'node:assert'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage, type Stage } from './stage.ts'

/** The hosts of two processes. */
const PORTS = ['127.0.0.1:3001', '127.0.0.1:3002']

/** The texts that requests with these values of `Host` get. */
async function textsFor(stage: Stage, hosts: readonly string[]): Promise<readonly string[]> {
  const texts: string[] = []
  for (const host of hosts) texts.push((await stage.ask('/a', { headers: { host } })).text)
  return texts
}

/** The host in a route's key, and the hosts that a route caches. */
export function describeHosts({ factory, describe, test }: Contract): void {
  describe('the hosts of a route', () => {
    test('include a listed host with the default port of its scheme', async () => {
      const { handle } = counted((run) => text(`run ${run}`))
      const cache = { ttl: '1m', hosts: ['shop.example'] } as const
      await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
        assert.deepEqual(await textsFor(stage, ['shop.example', 'shop.example:80', 'shop.example:81']), [
          'run 1',
          'run 1',
          'run 2',
        ])
      })
    })

    test('include a host that is listed with the default port', async () => {
      const { handle } = counted((run) => text(`run ${run}`))
      const cache = { ttl: '1m', hosts: ['shop.example:80'] } as const
      await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
        assert.deepEqual(await textsFor(stage, ['shop.example', 'shop.example:80']), ['run 1', 'run 1'])
      })
    })
  })

  describe('key.host', () => {
    for (const [what, host] of [
      ['a name', 'shop.example'],
      ['false', false],
    ] as const)
      test(`(${what}) makes processes on different ports share their entries`, async () => {
        const { handle } = counted((run, { headers }) => text(`${String(headers.host)} #${run}`))
        const cache: Readonly<Record<string, unknown>> = { ttl: '1m', hosts: PORTS, key: { host } }
        await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
          const [first, second] = await textsFor(stage, ['127.0.0.1:3001', '127.0.0.1:3002'])
          assert.equal(second, first)
        })
      })

    test(
      '(a name) is the host that the handler of a refresh sees',
      async () => {
        const { handle } = counted((run, { headers }) => text(`${String(headers.host)} #${run}`))
        const cache = { ttl: '10s', staleWhileRevalidate: '1h', hosts: PORTS, key: { host: 'shop.example' } } as const
        await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
          await textsFor(stage, ['127.0.0.1:3001'])
          await stage.runtime.advance(11_000)
          await textsFor(stage, ['127.0.0.1:3002'])
          await stage.seen('commit', 2)
          assert.deepEqual(await textsFor(stage, ['127.0.0.1:3001']), ['shop.example #2'])
        })
      },
      'time',
    )

    for (const host of ['shop.example', false] as const)
      test(`(${String(host)}) lets an unsafe request to one port end the entries of every port`, async () => {
        const { handle } = counted((run) => text(`run ${run}`))
        const cache = { ttl: '1h', invalidateOnUnsafe: true, hosts: PORTS, key: { host } } as const
        const routes = [
          { path: '/a', cache, handle },
          { path: '/a', method: 'POST', cache, handle: async () => text('done') },
        ] as const
        await onStage(factory, routes, async (stage) => {
          await textsFor(stage, ['127.0.0.1:3001'])
          await stage.ask('/a', { method: 'POST', headers: { host: '127.0.0.1:3002' } })
          assert.deepEqual(await textsFor(stage, ['127.0.0.1:3001']), ['run 2'])
        })
      })

    test('(a name) lets an unsafe request end the entries of a URL that its response names with that host', async () => {
      const { handle } = counted((run) => text(`run ${run}`))
      const cache = { ttl: '1h', invalidateOnUnsafe: true, hosts: PORTS, key: { host: 'shop.example' } } as const
      const location = 'http://shop.example/a'
      const routes = [
        { path: '/a', cache, handle },
        { path: '/new', method: 'POST', cache, handle: async () => text('done', { location }, 201) },
      ] as const
      await onStage(factory, routes, async (stage) => {
        await textsFor(stage, ['127.0.0.1:3001'])
        await stage.ask('/new', { method: 'POST', headers: { host: '127.0.0.1:3002' } })
        assert.deepEqual(await textsFor(stage, ['127.0.0.1:3001']), ['run 2'])
      })
    })

    test('(a name) is the host that a handler sees', async () => {
      const { handle } = counted((_, { headers }) => text(String(headers.host)))
      const cache: Readonly<Record<string, unknown>> = { ttl: '1m', hosts: PORTS, key: { host: 'shop.example' } }
      await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
        assert.deepEqual(await textsFor(stage, ['127.0.0.1:3001']), ['shop.example'])
      })
    })
  })
}
