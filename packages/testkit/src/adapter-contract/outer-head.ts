import { strict as assert } from 'node:assert'
import type { ServerResponse } from 'node:http'
import { type ContractRoute, counted } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

/** A layer outside the cache that passes these fields to `writeHead`, beside those that it gets as an argument. */
function passesToWriteHead(fields: Readonly<Record<string, string>>): ContractRoute['before'] {
  const wrap = (response: ServerResponse): void => {
    const writeHead = response.writeHead.bind(response)
    response.writeHead = ((status: number, passed?: object) =>
      writeHead(status, { ...passed, ...fields })) as ServerResponse['writeHead']
  }
  return () => ({ wrap })
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
