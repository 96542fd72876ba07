import { strict as assert } from 'node:assert'
import { isCattlegridError } from '@cattlegrid/core'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

/** The options whose functions decide about a request before anything else happens. */
const FUNCTIONS = ['enabled', 'skip', 'clientDirectives'] as const

/** A promise is true, whatever it resolves to: a function that returns one has decided nothing. */
export function describeFunctionsAnswerNow({ factory, describe, test }: Contract): void {
  describe('a function among the options that returns a promise', () => {
    for (const option of FUNCTIONS)
      for (const [what, decide] of [
        ['an async function', async () => false],
        ['a function with a promise', () => Promise.resolve(false)],
      ] as const)
        test(`(${option}, ${what}) is refused, and nothing is cached`, async () => {
          const origin = counted((run) => text(`run ${run}`))
          const cache: Readonly<Record<string, unknown>> = { ttl: '1m', [option]: decide }
          try {
            await onStage(factory, [{ path: '/a', cache, handle: origin.handle }], async (stage) => {
              const statuses = [(await stage.ask('/a')).status, (await stage.ask('/a')).status]
              assert.deepEqual(statuses, [500, 500])
            })
          } catch (error) {
            // An async function can be refused where the route is declared.
            if (!isCattlegridError(error, 'CATTLEGRID_INVALID_OPTION')) throw error
            assert.match(error.message, new RegExp(option))
          }
        })
  })
}
