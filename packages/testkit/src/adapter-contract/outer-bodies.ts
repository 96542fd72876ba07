import { strict as assert } from 'node:assert'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const cache = { ttl: '1m', range: true } as const

/**
 * A layer outside that replaces the whole body in `end`, as one that writes its client's name into each page,
 * and so declares no length.
 */
const replacing =
  (replace: (body: Buffer) => Buffer, fields: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse
    response.writeHead = ((status: number, passed?: object) => {
      const others = Object.entries(passed ?? {}).filter(([name]) => name.toLowerCase() !== 'content-length')
      response.removeHeader('content-length')
      return writeHead(status, { ...Object.fromEntries(others), ...fields })
    }) as ServerResponse['writeHead']
    response.end = ((...args: unknown[]) => {
      const [chunk] = args
      if (!(typeof chunk === 'string' || Buffer.isBuffer(chunk)) || chunk.length === 0) return end(...args)
      return end(replace(Buffer.from(chunk as string)))
    }) as ServerResponse['end']
  }

const NAMED: ContractRoute['before'] = ({ headers }) => ({
  wrap: replacing((body) => Buffer.from(body.toString().replace('NAME', String(headers['x-user'])))),
})
const CODED: ContractRoute['before'] = () => ({ wrap: replacing(gzipSync, { 'content-encoding': 'gzip' }) })

/**
 * Conditions and ranges are answered only where the layers outside send the recorded body, or a coding of it.
 */
export function describeOuterBodies({ factory, describe, test }: Contract): void {
  describe('a layer outside the cache that writes its client’s name into the body', () => {
    const page = counted(() => text('Hello NAME!'))

    test('gets no entity-tag of the cache for it, no 304 for another client’s page, and no part of it', async () => {
      await onStage(factory, [{ path: '/page', cache, before: NAMED, handle: page.handle }], async (stage) => {
        const leader = await stage.ask('/page', { headers: { 'x-user': 'ann' } })
        assert.equal(leader.text, 'Hello ann!')
        for (const condition of [
          { 'if-none-match': '*' },
          { 'if-none-match': leader.headers['etag'] ?? '"none"' },
          { 'if-modified-since': new Date(Date.now() + 86_400_000).toUTCString() },
          { range: 'bytes=0-7' },
        ] as readonly Readonly<Record<string, string>>[]) {
          const { status, text: body } = await stage.ask('/page', {
            headers: { 'x-user': 'bartholomew', ...condition },
          })
          assert.deepEqual([status, body], [200, 'Hello bartholomew!'])
        }
      })
    })
  })

  describe('a layer outside the cache that encodes the body', () => {
    test('leaves conditions to the cache', async () => {
      const { handle } = counted(() => text('Hello all!', { etag: '"v1"' }))
      await onStage(factory, [{ path: '/page', cache, before: CODED, handle }], async (stage) => {
        await stage.ask('/page')
        assert.equal((await stage.ask('/page', { headers: { 'if-none-match': '"v1"' } })).status, 304)
      })
    })
  })
}
