import { strict as assert } from 'node:assert'
import { type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

/** A handler that calls `keep({ ttl: '1m' })`. */
function keeps(status: number, fields: Readonly<Record<string, string>> = {}): ContractRoute['handle'] {
  return counted((run, { directives }) => {
    directives.keep({ ttl: '1m' })
    return text(`run ${run}`, fields, status)
  }).handle
}

/** What is neither a range nor prohibited is stored for as long as the handler says. */
export function describeKeepDecides({ factory, describe, test }: Contract): void {
  describe('keep({ ttl })', () => {
    for (const [status, fields] of [
      [302, { location: '/b' }],
      [303, { location: '/b' }],
      [307, { location: '/b' }],
      [405, { allow: 'POST' }],
      [404, {}],
      [410, {}],
    ] as const)
      test(
        `decides about a ${status}, whatever the route says`,
        async () => {
          const cache = { ttl: '10s', negativeTtl: '5s' } as const
          await onStage(factory, [{ path: '/a', cache, handle: keeps(status, fields) }], async (stage) => {
            assert.equal((await stage.ask('/a')).text, 'run 1')
            await stage.runtime.advance(55_000)
            assert.equal((await stage.ask('/a')).text, 'run 1')
          })
        },
        'time',
      )
  })

  describe('a 200 with Content-Range', () => {
    test('is stored like any other', async () => {
      const fields = { 'content-range': 'bytes 0-4/5', 'cache-control': 'max-age=60' }
      for (const cache of [undefined, { ttl: '1m' }] as const) {
        const { handle } = counted((run) => text(`run ${run}`, fields))
        await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
          for (let turn = 0; turn < 2; turn += 1) assert.equal((await stage.ask('/a')).text, 'run 1')
        })
      }
    })
  })
}
