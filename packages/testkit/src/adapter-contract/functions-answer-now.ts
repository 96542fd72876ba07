import { strict as assert } from 'node:assert'
import { isCattlegridError } from '@cattlegrid/core'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'
import { warningsDuring } from './warnings.ts'

/**
 * The options whose functions decide about a request before anything else happens, and what its clients get
 * where one of them decides nothing.
 */
const FUNCTIONS = [
  ['enabled', ['run 1', 'run 2']],
  ['skip', ['run 1', 'run 2']],
  ['clientDirectives', ['run 1', 'run 1']],
] as const

/** A promise is true, whatever it resolves to: a function that returns one has decided nothing. */
export function describeFunctionsAnswerNow({ factory, describe, test }: Contract): void {
  /** The texts of two answers of a route with this option. */
  const ask = async (option: string, decide: () => Promise<boolean>): Promise<readonly string[]> => {
    const { handle } = counted((run) => text(`run ${run}`))
    const cache: Readonly<Record<string, unknown>> = { ttl: '1m', [option]: decide }
    const texts: string[] = []
    await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
      for (let asked = 0; asked < 2; asked += 1) texts.push((await stage.ask('/a')).text)
    })
    return texts
  }

  describe('a function among the options that returns a promise', () => {
    for (const [option, texts] of FUNCTIONS) {
      test(`(${option}, an async function) is refused where the route is declared`, async () => {
        await assert.rejects(
          ask(option, async () => false),
          (error) => isCattlegridError(error, 'CATTLEGRID_INVALID_OPTION'),
        )
      })

      test(`(${option}, a function with a promise) is told once, and no request fails by it`, async () => {
        const warnings = await warningsDuring('CATTLEGRID_OPTION_ANSWER', async () => {
          assert.deepEqual(await ask(option, () => Promise.resolve(false)), texts)
        })
        assert.equal(warnings.length, 1)
        assert.match(warnings[0]?.message ?? '', new RegExp(option))
      })
    }
  })
}
