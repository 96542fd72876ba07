import { strict as assert } from 'node:assert'
import { type ContractAnswer, type ContractRequest, counted, aborted, hangUp, nothing, text } from './contract-route.ts'
import type { Contract, Need } from './contract.ts'
import { createGate, onStage, type Stage } from './stage.ts'

const cache = { ttl: '10s', staleWhileRevalidate: '1m' } as const

/** The results of a background refresh that must leave the stale entry in place. */
const REJECTED: readonly (readonly [string, () => ContractAnswer, ...Need[]])[] = [
  ['answers 500', () => text('broken', {}, 500)],
  ['answers 401', () => text('who are you?', {}, 401)],
  ['redirects to a login', () => nothing(302, { location: '/login' })],
  ['sets a cookie', () => text('two', { 'set-cookie': 'session=1' })],
  ['is private', () => text('two', { 'cache-control': 'private' })],
  ['is aborted', aborted],
  ['hangs up', hangUp, 'node'],
  [
    'throws',
    () => {
      throw new Error('no database')
    },
  ],
]

/** A stale response is served at once, refreshed in the background, and kept while refreshes fail. */
export function describeStale({ factory, describe, test }: Contract): void {
  describe('stale responses', () => {
    test(
      '50 clients get the stale response while one refresh runs in the background, and then the new one',
      async () => {
        const gate = createGate()
        const origin = counted(async (run) => {
          if (run > 1) await gate.opened
          return text(`run ${run}`)
        })
        await onStage(factory, [{ path: '/stale', cache, handle: origin.handle }], async (stage) => {
          await stale(stage, '/stale')
          for (const received of await stage.crowd(50, '/stale')) {
            assert.equal(received.text, 'run 1')
            assert.equal(received.headers['age'], '11')
          }
          gate.open()
          await stage.seen('commit', 2)
          const fresh = await stage.ask('/stale')
          assert.equal(fresh.text, 'run 2')
          assert.equal(fresh.headers['age'], '0')
          assert.equal(origin.runs, 2)
        })
      },
      'time',
    )

    test(
      'a refresh requests the same URL, without anything of the client that caused it',
      async () => {
        const requests: ContractRequest[] = []
        const origin = counted((run, request) => {
          requests.push(request)
          return text(`run ${run}`)
        })
        await onStage(factory, [{ path: '/refresh/:id', cache, handle: origin.handle }], async (stage) => {
          await stale(stage, '/refresh/7?b=2&a=1')
          const headers = {
            cookie: 'session=secret',
            'user-agent': 'curious',
            'x-forwarded-for': '10.1.1.1',
            'x-own': '1',
          }
          await stage.ask('/refresh/7?b=2&a=1', { headers })
          await stage.seen('commit', 2)
          const [first, refresh] = requests
          assert.ok(first !== undefined && refresh !== undefined)
          assert.equal(refresh.method, 'GET')
          assert.equal(refresh.url, first.url)
          assert.equal(refresh.headers.host, first.headers.host)
          for (const name of Object.keys(headers)) assert.equal(refresh.headers[name], undefined, name)
        })
      },
      'time',
    )

    for (const [what, answer, ...needs] of REJECTED) {
      test(
        `a refresh that ${what} keeps the entry unchanged, and the process alive`,
        async () => {
          const origin = counted((run) => (run === 1 ? text('one') : answer()))
          await onStage(factory, [{ path: '/kept', cache, handle: origin.handle }], async (stage) => {
            await stale(stage, '/kept')
            assert.equal((await stage.ask('/kept')).text, 'one')
            await stage.seen('outcome', 2)
            const kept = await stage.ask('/kept')
            assert.equal(kept.status, 200)
            assert.equal(kept.text, 'one')
            assert.deepEqual(kept.cookies, [])
          })
        },
        'time',
        ...needs,
      )
    }

    test(
      'a refresh that the authentication outside rejects keeps the entry unchanged',
      async () => {
        const origin = counted((run) => text(`run ${run}`))
        const before = ({ headers }: ContractRequest) => ({ refuse: headers['x-user'] === undefined })
        const ada = { headers: { 'x-user': 'ada' } }
        await onStage(factory, [{ path: '/guarded', cache, before, handle: origin.handle }], async (stage) => {
          assert.equal((await stage.ask('/guarded', ada)).text, 'run 1')
          await stage.runtime.advance(11_000)
          assert.equal((await stage.ask('/guarded', ada)).text, 'run 1')
          await stage.seen('outcome', 2)
          assert.equal((await stage.ask('/guarded', ada)).text, 'run 1')
          assert.equal(origin.runs, 1)
        })
      },
      'time',
    )

    for (const [what, answer] of REJECTED.filter(([title]) => /500|throws/.test(title))) {
      test(
        `while the handler ${what}, all clients get the stale response that staleIfError allows`,
        async () => {
          const gate = createGate()
          const origin = counted(async (run) => {
            if (run === 1) return text('one', { 'x-run': 'one' })
            await gate.opened
            return answer()
          })
          const route = {
            path: '/spare',
            cache: { ttl: '10s', staleIfError: '1h', softTimeout: false },
            handle: origin.handle,
          } as const
          await onStage(factory, [route], async (stage) => {
            await stale(stage, '/spare')
            const crowd = stage.crowd(20, '/spare')
            await stage.seen('join', 19)
            gate.open()
            for (const received of await crowd) {
              assert.equal(received.status, 200)
              assert.equal(received.text, 'one')
              assert.equal(received.headers['x-run'], 'one')
              assert.equal(received.headers['content-length'], '3')
            }
            assert.equal(origin.runs, 2)
            assert.equal((await stage.ask('/spare')).text, 'one')
            assert.equal(origin.runs, 2)
          })
        },
        'time',
      )
    }

    test(
      'clients of a handler that exceeds loadTimeout get the stale response, and its late response is ignored',
      async () => {
        const gate = createGate()
        const origin = counted(async (run) => {
          if (run === 2) await gate.opened
          return text(`run ${run}`, { 'x-run': String(run) })
        })
        const windows = { ttl: '10s', staleIfError: '1h', softTimeout: false, loadTimeout: '3s' } as const
        await onStage(factory, [{ path: '/late', cache: windows, handle: origin.handle }], async (stage) => {
          await stale(stage, '/late')
          const crowd = stage.crowd(20, '/late')
          await stage.seen('join', 19)
          await stage.runtime.advance(3001)
          for (const received of await crowd) {
            assert.equal(received.text, 'run 1')
            assert.equal(received.headers['x-run'], '1')
          }
          gate.open()
          await stage.runtime.advance(60_000)
          assert.equal((await stage.ask('/late')).text, 'run 3')
        })
      },
      'time',
    )

    test(
      'the leader waits for its own handler while softTimeout gives the others the stale response',
      async () => {
        const gate = createGate()
        const origin = counted(async (run) => {
          if (run === 2) await gate.opened
          return text(`run ${run}`)
        })
        const route = { path: '/soft', cache: { ttl: '10s', staleIfError: '1h' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          await stale(stage, '/soft')
          const leader = stage.ask('/soft')
          await stage.seen('load', 2)
          const crowd = stage.crowd(10, '/soft')
          await stage.seen('join', 10)
          await stage.runtime.advance(1001)
          for (const { text: body } of await crowd) assert.equal(body, 'run 1')
          gate.open()
          assert.equal((await leader).text, 'run 2')
          assert.equal((await stage.ask('/soft')).text, 'run 2')
          assert.equal(origin.runs, 2)
        })
      },
      'time',
    )

    test(
      'a failure that comes after the stale window has closed reaches its client unchanged',
      async () => {
        const gate = createGate()
        const origin = counted(async (run) => {
          if (run === 2) await gate.opened
          return run === 2 ? text('broken', { 'x-run': '2' }, 500) : text('one')
        })
        const windows = { ttl: '10s', staleIfError: '10s', softTimeout: false } as const
        await onStage(factory, [{ path: '/passed', cache: windows, handle: origin.handle }], async (stage) => {
          await stale(stage, '/passed')
          const leader = stage.ask('/passed')
          await stage.seen('load', 2)
          await stage.runtime.advance(12_000)
          gate.open()
          const { status, text: body, headers } = await leader
          assert.deepEqual([status, body, headers['x-run']], [500, 'broken', '2'])
        })
      },
      'time',
    )
  })
}

/** Fills the entry and moves time until it has been stale for one second. */
async function stale(stage: Stage, path: string): Promise<void> {
  await stage.ask(path)
  await stage.seen('commit', 1)
  await stage.runtime.advance(11_000)
}
