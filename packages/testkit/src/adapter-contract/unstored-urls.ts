import { strict as assert } from 'node:assert'
import { Readable } from 'node:stream'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage, type Stage } from './stage.ts'

/** Longer than `loadTimeout` and `waitTimeout`. */
const LONG = 120_000

/**
 * Also lets what the cache sends meanwhile reach the client: another request takes turns of the event loop.
 */
async function passTime(stage: Stage): Promise<void> {
  await stage.runtime.advance(LONG)
  await stage.ask('/nothing-here')
}

/** App mode takes nothing from a URL that is not known to be shareable. */
export function describeUnstoredUrls({ factory, describe, test }: Contract): void {
  describe('in app mode, a URL of which nothing was ever stored', () => {
    for (const [what, fields] of [
      ['cannot be stored', {}],
      ['can be stored', { 'cache-control': 'max-age=60' }],
    ] as const)
      test(
        `may take any time to its first byte, where its response ${what}`,
        async () => {
          const gate = createGate()
          const { handle } = counted(async () => {
            await gate.opened
            return text('late', fields)
          })
          await onStage(factory, [{ path: '/report', handle }], async (stage) => {
            const asked = stage.ask('/report')
            await stage.seen('load', 1)
            await passTime(stage)
            gate.open()
            const { status, text: body } = await asked
            assert.deepEqual([status, body], [200, 'late'])
          })
        },
        'time',
      )

    test(
      'answers a request that waited for another one from a handler, not by a 503',
      async () => {
        const gate = createGate()
        const { handle } = counted(async () => {
          await gate.opened
          return text('late')
        })
        await onStage(factory, [{ path: '/report', handle }], async (stage) => {
          const first = stage.ask('/report')
          await stage.seen('load', 1)
          const second = stage.ask('/report')
          await passTime(stage)
          gate.open()
          assert.deepEqual([(await first).status, (await second).status], [200, 200])
        })
      },
      'time',
    )

    test(
      'may stream for any time',
      async () => {
        const gate = createGate()
        async function* body(): AsyncGenerator<string> {
          yield 'first '
          await gate.opened
          yield 'last'
        }
        const headers = { 'cache-control': 'max-age=60', 'content-type': 'text/plain' }
        const { handle } = counted(() => ({
          send: 'stream',
          status: 200,
          headers,
          body: Readable.from(body(), { objectMode: false }),
        }))
        await onStage(factory, [{ path: '/export', handle }], async (stage) => {
          const asked = stage.ask('/export')
          await stage.seen('load', 1)
          await passTime(stage)
          gate.open()
          assert.equal((await asked).text, 'first last')
        })
      },
      'time',
    )
  })
}
