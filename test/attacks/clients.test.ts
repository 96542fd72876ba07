import { PassThrough, Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { CLEAN, type Connection, verdict } from './raw-client.ts'
import { type Page, plain } from './shop.ts'
import { FRAMEWORKS, gate, onStage, until } from './stage.ts'

const cache = { ttl: '1m' } as const
const LARGE = 'x'.repeat(4 * 1024 * 1024)

describe.each(FRAMEWORKS)('slow clients on %s', (framework) => {
  test('one that reads nothing of an answer too large to keep holds up nobody who waited for it', async () => {
    const handle: Page['handle'] = () => ({
      headers: { 'content-type': 'text/plain' },
      body: Readable.from([LARGE, LARGE], { objectMode: false }),
    })
    await onStage(framework, [{ path: '/large', cache, handle }], async (stage) => {
      const slow = await stage.open()
      slow.stall()
      slow.write({ target: '/large' })
      await stage.seen('load', 1)
      const answers = await Promise.all([stage.get('/large'), stage.get('/large')])
      for (const { status, body } of answers) expect([status, body.length]).toEqual([200, 2 * LARGE.length])
      slow.leave()
    })
  })

  test('50 that read nothing of a stored answer hold up nobody, and cost no run', async () => {
    let runs = 0
    const handle: Page['handle'] = (_, run) => {
      runs = run
      return { headers: { 'content-type': 'text/plain' }, body: LARGE }
    }
    await onStage(framework, [{ path: '/large', cache: { ...cache, maxBodyBytes: '8mb' }, handle }], async (stage) => {
      await stage.get('/large')
      const slow = await Promise.all(Array.from({ length: 50 }, () => stage.open()))
      for (const one of slow) {
        one.stall()
        one.write({ target: '/large' })
      }
      await stage.seen('hit', 50)
      expect((await stage.get('/large')).body.length).toBe(LARGE.length)
      expect(runs).toBe(1)
      for (const one of slow) one.leave()
    })
  })

  test('one that never ends its request leads nobody', async () => {
    await onStage(framework, [{ path: '/page', cache, handle: plain }], async (stage) => {
      const [half, body] = [await stage.open(), await stage.open()]
      half.write('GET /page HTTP/1.1\r\nHost: shop.example\r\nX-A: ')
      body.write({ target: '/page', fields: [['Content-Length', '1000']], body: 'a bit' })
      expect(verdict(await stage.get('/page'))).toEqual(CLEAN)
      half.leave()
      body.leave()
      expect(stage.count('commit')).toBe(1)
    })
  })
})

describe.each(FRAMEWORKS)('clients that leave on %s', (framework) => {
  test('199 of 200 followers that leave take nobody along, and give their places back', async () => {
    const door = gate()
    let runs = 0
    const handle: Page['handle'] = async (seen, run) => {
      runs = run
      await door.opened
      return plain(seen, run)
    }
    const options = { cache: { maxWaiters: 400, maxWaitersPerKey: 201 } }
    await onStage(
      framework,
      [{ path: '/page', cache, handle }],
      async (stage) => {
        const leader = stage.get('/page')
        await stage.seen('load', 1)
        const followers: Connection[] = []
        for (let round = 1; round <= 2; round += 1) {
          const crowd = await Promise.all(Array.from({ length: 200 }, () => stage.open()))
          for (const one of crowd) one.write({ target: '/page' })
          await stage.seen('join', 200 * round - followers.length)
          const [stays] = crowd
          for (const one of crowd) if (one !== stays) one.leave()
          if (stays !== undefined) followers.push(stays)
          await rest()
        }
        door.open()
        for (const { body } of [await leader, ...(await Promise.all(followers.map((one) => one.next())))])
          expect(body).toBe('run 1')
        for (const one of followers) one.leave()
        expect(runs).toBe(1)
      },
      options,
    )
  })

  /** At which stage of its answer the leader's client leaves, and how many runs the answer costs then. */
  const STAGES: readonly (readonly [string, (source: PassThrough) => void, number])[] = [
    ['before a byte of a stream', () => undefined, 2],
    ['in the middle of a stream', (source) => void source.write('half '), 2],
  ]
  test.each(STAGES)('a leader that leaves %s leaves nobody behind, and no half answer', async (_, begin, most) => {
    const sources: PassThrough[] = []
    const handle: Page['handle'] = () => {
      const source = new PassThrough()
      sources.push(source)
      if (sources.length === 1) begin(source)
      else source.end('whole')
      return { headers: { 'content-type': 'text/plain' }, body: source }
    }
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      const leader = await stage.open()
      leader.write({ target: '/page' })
      await until(() => sources.length === 1)
      const followers = [stage.get('/page'), stage.get('/page')]
      await stage.seen('join', 2)
      leader.leave()
      for (const { status, body } of await Promise.all(followers)) expect([status, body]).toEqual([200, 'whole'])
      expect((await stage.get('/page')).body).toBe('whole')
      expect(sources.length).toBeLessThanOrEqual(most)
    })
  })

  test.each<readonly [string, (client: Connection) => void]>([
    ['leaves before the answer', (client) => client.leave()],
    ['says that it will send no more, and listens', (client) => client.finish()],
    ['reads nothing, and leaves when all is sent', (client) => client.stall()],
  ])('a leader that %s loses no answer that its handler makes: one run for all', async (_, act) => {
    const door = gate()
    let runs = 0
    const handle: Page['handle'] = async (_seen, run) => {
      runs = run
      await door.opened
      return { body: LARGE.slice(0, 500_000) }
    }
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      const leader = await stage.open()
      leader.write({ target: '/page' })
      await until(() => runs === 1)
      const follower = stage.get('/page')
      await stage.seen('join', 1)
      act(leader)
      await rest()
      door.open()
      for (const { status, body } of [await follower, await stage.get('/page')])
        expect([status, body.length]).toEqual([200, 500_000])
      leader.leave()
      expect(runs).toBe(1)
    })
  })
})

describe.each(FRAMEWORKS)('truncated bodies on %s', (framework) => {
  /** Breaks off after some bytes; `declared`: with the length of the whole. */
  const broken =
    (declared: boolean): Page['handle'] =>
    (_, run) => {
      const source = new PassThrough()
      source.write('evil half')
      if (run === 1) setImmediate(() => source.destroy(new Error('the source broke')))
      else source.end(' and the other')
      const length: Record<string, string> = declared ? { 'content-length': '23' } : {}
      return { headers: { 'content-type': 'text/plain', ...length }, body: source }
    }

  test.each([true, false])(
    'what the handler broke off is kept for nobody, whether it declared its length (%p) or not',
    async (declared) => {
      await onStage(framework, [{ path: '/page', cache, handle: broken(declared) }], async (stage) => {
        const first = await stage.get('/page')
        expect(first.whole && first.status === 200).toBe(false)
        const meanwhile = await stage.get('/page')
        expect([meanwhile.status, meanwhile.body.includes('half')]).toEqual([503, false])
        await stage.runtime.advance(2000)
        for (const _ of [1, 2]) expect((await stage.get('/page')).body).toBe('evil half and the other')
      })
    },
  )

  test('what the handler ended before the length that it declared is kept for nobody', async () => {
    let runs = 0
    const handle: Page['handle'] = (_, run) => {
      runs = run
      const body = Readable.from([run === 1 ? 'evil half' : 'evil half and the other'], { objectMode: false })
      return { headers: { 'content-type': 'text/plain', 'content-length': '23' }, body }
    }
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      const first = await stage.open()
      first.write({ target: '/page' })
      await stage.seen('outcome', 1)
      first.leave()
      await stage.runtime.advance(2000)
      for (let turn = 0; turn < 2; turn += 1) expect((await stage.get('/page')).body).toBe('evil half and the other')
      expect([runs, stage.count('commit')]).toEqual([2, 1])
    })
  })
})

/** Time for the server, in the same process, to notice what its clients did. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
}
