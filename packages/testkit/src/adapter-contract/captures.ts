import { strict as assert } from 'node:assert'
import { Readable } from 'node:stream'
import { type ContractAnswer, counted, aborted, nothing, stream, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, type Gate, onStage, type Stage } from './stage.ts'

const LIMIT = 8192
const cache = { ttl: '1h', staleIfError: '1h', maxCaptureBytes: LIMIT, maxBodyBytes: LIMIT, cacheStatus: true } as const
const brief = { ...cache, loadTimeout: '1s' } as const
const MOST = 'x'.repeat(LIMIT - 1000)

/** Sends almost as many bytes as the limit allows, then waits for the gate. */
function heldBack(gate: Gate): ContractAnswer {
  async function* chunks(): AsyncGenerator<string> {
    yield MOST
    await gate.opened
    yield 'end'
  }
  return { ...stream([]), body: Readable.from(chunks(), { objectMode: false }) } as ContractAnswer
}

/**
 * The ways in which a response can end. Each is tested as a first response, and as a failed refresh that a
 * stale response replaces.
 */
const ENDINGS: readonly (readonly [string, () => ContractAnswer])[] = [
  ['that is stored', () => text(MOST)],
  ['that is streamed', () => stream([MOST, 'end'])],
  ['that is for its own client', () => text(MOST, { 'set-cookie': 'a=1' })],
  ['that is too large', () => stream([MOST, MOST])],
  ['that says it is too large', () => text(MOST + MOST)],
  ['without a body', () => nothing(204)],
  ['that is aborted', aborted],
  ['that is a failure', () => text(MOST, {}, 500)],
  ['that is a streamed failure', () => ({ ...stream([MOST, 'end']), status: 500 }) as ContractAnswer],
  ['that is shared and not stored', () => text(MOST, {}, 418)],
]

async function isKept(stage: Stage, path: string): Promise<void> {
  await stage.ask(path)
  assert.match(String((await stage.ask(path)).headers['cache-status']), /; hit; /)
}

/** One limit holds for all responses that are being recorded at the same time. */
export function describeCaptures({ factory, describe, test }: Contract): void {
  describe('the bytes that are being recorded', () => {
    test('are limited over all routes: a response above the limit is not stored, and no response is delayed', async () => {
      const gate = createGate()
      const slow = counted(() => heldBack(gate))
      const other = counted(() => text(MOST))
      const routes = [
        { path: '/slow', cache, handle: slow.handle },
        { path: '/other', cache, handle: other.handle },
      ]
      await onStage(factory, routes, async (stage) => {
        const leaver = stage.askAndLeave('/slow')
        await leaver.begun
        const crowded = await stage.ask('/other')
        assert.equal(crowded.text, MOST)
        assert.equal(crowded.headers['cache-status'], 'cattlegrid; fwd=uri-miss; detail=too-large')
        gate.open()
        await stage.seen('commit', 1)
        leaver.leave()
        assert.equal((await stage.ask('/slow')).text, `${MOST}end`)
        assert.equal(slow.runs, 1)
      })
    })

    for (const [what, answer] of ENDINGS) {
      test(
        `are released after a response ${what}`,
        async () => {
          const ending = counted(answer)
          const failing = counted((run) => (run === 1 ? text('good') : answer()))
          const routes = [
            { path: '/ends', cache, handle: ending.handle },
            { path: '/again', cache: { ...cache, failureCooldown: { min: 1, max: 1 } }, handle: failing.handle },
            { path: '/kept/:name', cache, handle: counted(() => text(MOST)).handle },
          ]
          await onStage(factory, routes, async (stage) => {
            await stage.ask('/ends')
            await isKept(stage, '/kept/one')
            await stage.ask('/again')
            await stage.runtime.advance(3_600_001)
            await stage.ask('/again')
            await isKept(stage, '/kept/two')
          })
        },
        'time',
      )
    }

    test(
      'are released when the client leaves in the middle of the response, and when the handler never ends',
      async () => {
        const gate = createGate()
        const routes = [
          { path: '/stalls', cache: brief, handle: counted(() => heldBack(gate)).handle },
          { path: '/left', cache, handle: counted(() => heldBack(gate)).handle },
          { path: '/kept/:name', cache, handle: counted(() => text(MOST)).handle },
        ]
        await onStage(factory, routes, async (stage) => {
          const stalled = stage.ask('/stalls')
          await stage.seen('load', 1)
          await stage.runtime.advance(1001)
          assert.equal((await stalled).status, 0)
          await isKept(stage, '/kept/one')
          const leaver = stage.askAndLeave('/left')
          await leaver.begun
          leaver.leave()
          await leaver.gone
          await stage.seen('outcome', 3)
          await isKept(stage, '/kept/two')
          gate.open()
        })
      },
      'time',
      'node',
    )
  })
}
