import { strict as assert } from 'node:assert'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type ContractRoute, counted, stream } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

/**
 * A layer outside the cache that passes these fields to `writeHead`, beside those that it gets as
 * an argument.
 */
function passesToWriteHead(fields: Readonly<Record<string, string>>): ContractRoute['before'] {
  const wrap = (response: ServerResponse): void => {
    const writeHead = response.writeHead.bind(response)
    response.writeHead = ((status: number, passed?: object) =>
      writeHead(status, { ...passed, ...fields })) as ServerResponse['writeHead']
  }
  return () => ({ wrap })
}

/** A layer outside the cache that gives an entity-tag to each response without one. */
function addsEtag(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response)
  response.writeHead = ((status: number, passed: OutgoingHttpHeaders = {}) => {
    const isTagged = response.hasHeader('etag') || 'etag' in passed
    return writeHead(status, isTagged ? passed : { ...passed, etag: '"outer"' })
  }) as ServerResponse['writeHead']
}

const PROHIBITIONS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['a cookie', { 'set-cookie': 'sid=1' }],
  ['private', { 'cache-control': 'private' }],
  ['no-store', { 'cache-control': 'no-store' }],
]

/** A prohibition holds wherever it is said, also where no field was ever set on the response. */
export function describeOuterHead({ factory, describe, test }: Contract): void {
  describe('a layer outside the cache that passes fields to writeHead', () => {
    for (const [what, fields] of PROHIBITIONS) {
      test(`(${what}) keeps a response on which no field was set from being stored`, async () => {
        const { handle } = counted((run) => ({
          send: 'bytes',
          body: Buffer.from(`run ${run}`),
          status: 200,
          headers: {},
        }))
        const bare = counted((run) => ({
          send: 'raw',
          write: (response) => void response.end(`run ${run}`),
        }))
        const routes = [handle, bare.handle].map((one, index) => ({
          path: `/${index}`,
          cache: { ttl: '1m' } as const,
          before: passesToWriteHead(fields),
          handle: one,
        }))
        await onStage(factory, routes, async (stage) => {
          for (const path of ['/0', '/1'])
            for (const run of [1, 2]) assert.equal((await stage.ask(path)).text, `run ${run}`, path)
        })
      })
    }

    test('(an entity-tag) gives hits the entity-tag of the leader, and no other', async () => {
      const { handle } = counted((run) => stream([`run ${run}`]))
      const before: ContractRoute['before'] = () => ({ wrap: addsEtag })
      await onStage(factory, [{ path: '/page', cache: { ttl: '1m' }, before, handle }], async (stage) => {
        for (const _ of ['the leader', 'a hit']) assert.equal((await stage.ask('/page')).headers['etag'], '"outer"')
        assert.equal((await stage.ask('/page', { method: 'HEAD' })).headers['etag'], '"outer"')
      })
    })

    test('(an entity-tag) answers a leader that has it by 304', async () => {
      const { handle } = counted((run) => ({
        send: 'bytes',
        body: Buffer.from(`run ${run}`),
        status: 200,
        headers: {},
      }))
      const before: ContractRoute['before'] = () => ({ headers: { etag: '"outer"' } })
      await onStage(factory, [{ path: '/page', cache: { ttl: '1m' }, before, handle }], async (stage) => {
        for (const _ of ['the leader', 'a hit']) {
          const { status, text } = await stage.ask('/page', { headers: { 'if-none-match': '"outer"' } })
          assert.deepEqual([status, text], [304, ''])
        }
      })
    })

    test('(a Vary) makes variants', async () => {
      const { handle } = counted((run, { headers }) => ({
        send: 'bytes',
        body: Buffer.from(`${String(headers['x-tenant'])} #${run}`),
        status: 200,
        headers: {},
      }))
      const before = passesToWriteHead({ vary: 'x-tenant' })
      await onStage(factory, [{ path: '/page', cache: { ttl: '1m' }, before, handle }], async (stage) => {
        for (const tenant of ['a', 'b', 'a'])
          assert.match((await stage.ask('/page', { headers: { 'x-tenant': tenant } })).text, new RegExp(`^${tenant} #`))
      })
    })
  })
}
