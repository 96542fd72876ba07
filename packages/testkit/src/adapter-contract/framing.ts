import { strict as assert } from 'node:assert'
import type { ServerResponse } from 'node:http'
import { type ContractRoute, counted, stream, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const cache = { ttl: '1m', range: true } as const

/** Small enough that no socket asks for a pause. */
const PIECES = Array.from({ length: 8 }, () => Buffer.from('piece'))

/** A layer outside whose `write` returns nothing, as many hand-written ones. */
function returnsNothing(response: ServerResponse): void {
  const write = response.write.bind(response) as (...args: unknown[]) => boolean
  response.write = ((...args: unknown[]) => void write(...args)) as unknown as ServerResponse['write']
}

/** Framing belongs to whoever frames last. */
export function describeFraming({ factory, describe, test }: Contract): void {
  describe('a layer outside the cache that frames the body', () => {
    test('(by Transfer-Encoding) gets hits that are framed once', async () => {
      const { handle } = counted((run) => text(`run ${run}`))
      const before: ContractRoute['before'] = () => ({ headers: { 'transfer-encoding': 'chunked' } })
      await onStage(factory, [{ path: '/page', cache, before, handle }], async (stage) => {
        // A framework may give its own response both.
        await stage.ask('/page')
        for (const [headers, status] of [
          [{}, 200],
          [{ range: 'bytes=0-1' }, 206],
          [{ range: 'bytes=99-' }, 416],
        ] as const) {
          const hit = await stage.ask('/page', { headers })
          assert.equal(hit.status, status)
          // A framework that frames last may do so by a length.
          const framing = [hit.headers['content-length'], hit.headers['transfer-encoding']]
          assert.equal(framing.filter((value) => value !== undefined).length, 1, framing.join())
        }
      })
    })

    test('(by a write that returns nothing) holds up no stream', async () => {
      for (const fields of [{ 'cache-control': 'private' }, {}]) {
        const { handle } = counted(() => stream(PIECES, { 'content-type': 'text/plain', ...fields }))
        const before: ContractRoute['before'] = () => ({ wrap: returnsNothing })
        await onStage(factory, [{ path: '/page', cache, before, handle }], async (stage) => {
          assert.equal((await stage.ask('/page')).text, 'piece'.repeat(8))
        })
      }
    })
  })

  describe('a shorter answer from an entry', () => {
    const FIELDS = {
      etag: '"v1"',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'timing-allow-origin': '*',
      link: '</style.css>; rel=preload',
      'content-language': 'en',
      'content-digest': 'sha-256=:AAAA:',
      'content-md5': 'AAAA',
      'repr-digest': 'sha-256=:AAAA:',
    }
    const KEPT = ['access-control-allow-origin', 'cross-origin-resource-policy', 'timing-allow-origin', 'link'] as const

    for (const [status, headers, lacking] of [
      [304, { 'if-none-match': '"v1"' }, ['content-language', 'content-digest', 'content-md5', 'repr-digest']],
      [416, { range: 'bytes=99-' }, ['content-language', 'content-digest', 'content-md5', 'repr-digest', 'etag']],
      [206, { range: 'bytes=0-1' }, ['content-digest', 'content-md5']],
    ] as const)
      test(`(${status}) has what lets a page read it, and nothing that describes another content`, async () => {
        const { handle } = counted(() => text('0123456789', FIELDS))
        await onStage(factory, [{ path: '/page', cache, handle }], async (stage) => {
          await stage.ask('/page')
          const answer = await stage.ask('/page', { headers })
          assert.equal(answer.status, status)
          for (const name of KEPT) assert.deepEqual([name, answer.headers[name]], [name, FIELDS[name]])
          for (const name of lacking) assert.deepEqual([name, answer.headers[name]], [name, undefined])
          if (status === 206) assert.equal(answer.headers['repr-digest'], FIELDS['repr-digest'])
        })
      })
  })
}
