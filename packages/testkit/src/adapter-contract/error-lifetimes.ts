import { strict as assert } from 'node:assert'
import { type ContractAnswer, type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const lasting = { 'cache-control': 'public, max-age=60' }

/** The ways in which a lifetime gets on a response before its handler throws. */
const EARLIER: readonly (readonly [string, ContractRoute['before'], (error: Error) => ContractAnswer])[] = [
  [
    'a layer outside',
    () => ({ headers: lasting }),
    (error) => {
      throw error
    },
  ],
  [
    'the handler itself',
    undefined,
    (error) => ({
      send: 'raw',
      write: (response) => {
        response.setHeader('cache-control', lasting['cache-control'])
        throw error
      },
    }),
  ],
  [
    'the handler itself, for another error,',
    undefined,
    (error) => ({
      send: 'raw',
      write: (response) => {
        response.statusCode = 451
        response.setHeader('cache-control', lasting['cache-control'])
        throw error
      },
    }),
  ],
]

/**
 * In app mode, a lifetime that was declared for one response says nothing about the error that comes in
 * its place.
 */
export function describeErrorLifetimes({ factory, describe, test }: Contract): void {
  describe('in app mode, the page of an error', () => {
    for (const [who, before, fail] of EARLIER)
      for (const status of [400, 404, 410, 500, 503])
        test(`(${status}) is not stored for the lifetime that ${who} declared before it`, async () => {
          const error = Object.assign(new Error('thrown'), { status, statusCode: status })
          const { handle } = counted((run) => (run === 1 ? fail(error) : text('well', lasting)))
          await onStage(factory, [{ path: '/a', before, handle }], async (stage) => {
            assert.equal((await stage.ask('/a')).status, status)
            assert.equal((await stage.ask('/a')).text, 'well')
          })
        })

    for (const status of [400, 404, 410, 418, 501])
      test(`(${status}) is stored for the lifetime that it declares itself`, async () => {
        const { handle } = counted((run) => text(`run ${run}`, lasting, status))
        await onStage(factory, [{ path: '/a', handle }], async (stage) => {
          for (let turn = 0; turn < 2; turn += 1) assert.equal((await stage.ask('/a')).text, 'run 1')
        })
      })
  })
}
