import { strict as assert } from 'node:assert'
import type { Received } from './client.ts'
import { type ContractAnswer, counted, aborted, hangUp, stalled, stream, text } from './contract-route.ts'
import type { Contract, Need } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '10s' } as const

/** The ways in which a leader can fail. The handler throws exactly this value. */
const FAILURES: readonly (readonly [string, () => ContractAnswer, ...Need[]])[] = [
  ['answers 500', () => text('broken', { 'x-trace': 'secret' }, 500)],
  ['answers 503', () => text('later', { 'retry-after': '7' }, 503)],
  ['throws', throwing(new Error('no database'))],
  ['throws nothing', throwing(undefined)],
  ['throws a string', throwing('no database')],
  ['is aborted', aborted],
  ['hangs up', hangUp, 'node'],
]

/** How the handler of a leader may end after its client left. */
const ENDINGS_AFTER_LEAVING: readonly (readonly [string, () => ContractAnswer, ...Need[]])[] = [
  ['sends its response', () => text('well')],
  ['streams its response', () => stream(['we', 'll'], { 'content-type': 'text/plain' })],
  ['throws', throwing(new Error('the query was cancelled: its client left')), 'node'],
  ['is aborted', aborted, 'node'],
  ['hangs up', hangUp, 'node'],
]

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown
  }
}

/** However the leader fails, no client hangs, and none gets an empty or truncated 200. */
export function describeFailingLeaders({ factory, describe, test }: Contract): void {
  describe('a leader that fails', () => {
    for (const [what, fail, ...needs] of FAILURES) {
      test(
        `50 clients whose leader ${what} all get an error, never an empty success, and the next leader serves its response`,
        async () => {
          const gate = createGate()
          let mended = false
          const origin = counted(async () => {
            await gate.opened
            return mended ? text('well') : fail()
          })
          await onStage(factory, [{ path: '/fails', cache, handle: origin.handle }], async (stage) => {
            const crowd = stage.crowd(50, '/fails')
            await stage.seen('join', 49)
            gate.open()
            for (const received of await crowd) expectFailure(received)
            mended = true
            await stage.runtime.advance(60_000)
            assert.equal((await stage.ask('/fails')).text, 'well')
          })
        },
        'time',
        ...needs,
      )
    }

    for (const [what, fail] of FAILURES.filter(([title]) => title !== 'hangs up')) {
      test(`a handler that ${what} does not run again while the key cools down, and clients get 503 with Retry-After`, async () => {
        const origin = counted(fail)
        // Longer than two requests take on a slow machine.
        const cooling = { ...cache, failureCooldown: { min: '1m', max: '1m' } } as const
        await onStage(factory, [{ path: '/cools', cache: cooling, handle: origin.handle }], async (stage) => {
          const crowd = await stage.crowd(10, '/cools')
          for (const received of crowd) expectFailure(received)
          const { status, headers, text: body } = await stage.ask('/cools')
          assert.equal(status, 503)
          assert.ok(Number(headers['retry-after']) >= 1)
          assert.equal(headers['x-trace'], undefined)
          assert.ok(!/broken|database/.test(body), body)
          assert.equal(origin.runs, 1)
        })
      })
    }

    test(
      '50 clients whose leader exceeds loadTimeout get 504, its late response reaches no client, and the next leader serves its own',
      async () => {
        const gate = createGate()
        const origin = counted(async (run) => {
          if (run === 1) await gate.opened
          return text(`run ${run}`)
        })
        const route = { path: '/never', cache: { ttl: '10s', loadTimeout: '3s' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          const crowd = stage.crowd(50, '/never')
          await stage.seen('join', 49)
          await stage.runtime.advance(3001)
          for (const { status } of await crowd) assert.equal(status, 504)
          gate.open()
          await stage.runtime.advance(60_000)
          assert.equal((await stage.ask('/never')).text, 'run 2')
        })
      },
      'time',
    )

    test(
      '50 clients whose leader stops in the middle of its body get an error at loadTimeout',
      async () => {
        const origin = counted((run) => (run === 1 ? stalled() : text('well')))
        const route = { path: '/stalls', cache: { ttl: '10s', loadTimeout: '3s' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          const crowd = stage.crowd(50, '/stalls')
          await stage.seen('join', 49)
          await stage.runtime.advance(3001)
          const answers = await crowd
          for (const received of answers) expectFailure(received)
          assert.equal(answers.filter(({ status }) => status === 504).length, 49)
          await stage.runtime.advance(60_000)
          assert.equal((await stage.ask('/stalls')).text, 'well')
        })
      },
      'time',
    )

    test(
      'a leader whose client leaves in the middle of the body keeps no follower waiting',
      async () => {
        const origin = counted((run) => (run === 1 ? stalled() : text('well')))
        await onStage(factory, [{ path: '/deserted', cache, handle: origin.handle }], async (stage) => {
          const leader = stage.askAndLeave('/deserted')
          await leader.begun
          const crowd = stage.crowd(20, '/deserted')
          await stage.seen('join', 20)
          leader.leave()
          for (const received of await crowd) if (received.status !== 200) expectFailure(received)
          assert.equal((await stage.ask('/deserted')).text, 'well')
        })
      },
      'node',
    )

    for (const [what, end, ...needs] of ENDINGS_AFTER_LEAVING) {
      test(
        `a leader whose client leaves before the handler ${what} fails no follower, and a response is stored`,
        async () => {
          const gate = createGate()
          const origin = counted(async (run) => {
            await gate.opened
            return run === 1 ? end() : text('well')
          })
          await onStage(factory, [{ path: '/left', cache, handle: origin.handle }], async (stage) => {
            const leader = stage.askAndLeave('/left')
            await stage.seen('load', 1)
            const crowd = stage.crowd(20, '/left')
            await stage.seen('join', 20)
            leader.leave()
            await leader.gone
            gate.open()
            for (const { text: body } of await crowd) assert.equal(body, 'well')
            assert.equal((await stage.ask('/left')).text, 'well')
            assert.ok(origin.runs <= 2)
          })
        },
        ...needs,
      )
    }

    test('a leader whose client sends what is no HTTP fails no follower, and its key does not cool down', async () => {
      const gate = createGate()
      const origin = counted(async (run) => {
        if (run === 1) await gate.opened
        return text('well')
      })
      await onStage(factory, [{ path: '/garbled', cache, handle: origin.handle }], async (stage) => {
        const leader = stage.askAndLeave('/garbled')
        await stage.seen('load', 1)
        const crowd = stage.crowd(20, '/garbled')
        await stage.seen('join', 20)
        leader.garble()
        await leader.gone
        gate.open()
        for (const { text: body } of await crowd) assert.equal(body, 'well')
        assert.equal((await stage.ask('/garbled')).text, 'well')
      })
    })

    test('a leader whose client reads nothing does not slow its followers down', async () => {
      const chunk = 'x'.repeat(64 * 1024)
      const origin = counted(() => stream(Array<string>(256).fill(chunk), { 'content-type': 'text/plain' }))
      const route = { path: '/slow', cache: { ttl: '10s', maxBodyBytes: '32mb' }, handle: origin.handle } as const
      await onStage(factory, [route], async (stage) => {
        const leader = stage.askAndLeave('/slow')
        await leader.begun
        const follower = await stage.ask('/slow')
        assert.equal(follower.body.length, 256 * chunk.length)
        leader.leave()
        assert.equal(origin.runs, 1)
      })
    })

    test('a follower whose client leaves does not affect the leader or another follower', async () => {
      const gate = createGate()
      const origin = counted(async () => {
        await gate.opened
        return text('for all')
      })
      await onStage(factory, [{ path: '/follower', cache, handle: origin.handle }], async (stage) => {
        const leader = stage.ask('/follower')
        await stage.seen('load', 1)
        const follower = stage.askAndLeave('/follower')
        await stage.seen('join', 1)
        const other = stage.ask('/follower')
        await stage.seen('join', 2)
        follower.leave()
        gate.open()
        assert.equal((await leader).text, 'for all')
        assert.equal((await other).text, 'for all')
        assert.equal(origin.runs, 1)
      })
    })

    test('after every kind of failure the server answers an ordinary request', async () => {
      const routes = FAILURES.map(([, fail], index) => ({ path: `/bad/${index}`, cache, handle: counted(fail).handle }))
      const well = { path: '/well', cache, handle: counted(() => text('well')).handle }
      await onStage(factory, [...routes, well], async (stage) => {
        await Promise.all(routes.map(({ path }) => stage.crowd(5, path)))
        assert.equal((await stage.ask('/well')).text, 'well')
      })
    })
  })
}

/** The connection ended, or the response is an error with a message: never a success. */
function expectFailure({ status, text: body }: Received): void {
  assert.ok(status === 0 || status >= 500, `status ${status}: ${body}`)
}
