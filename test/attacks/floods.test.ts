import { memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { describe, expect, test } from '@jest/globals'
import { type Ask, CLEAN, verdict } from './raw-client.ts'
import { type Page, plain, type Seen } from './shop.ts'
import { FRAMEWORKS, gate, onStage, type Stage, until } from './stage.ts'

const FLOOD = 200
const cache = { ttl: '1m' } as const

/** So many requests of an attacker, at most 25 at a time. */
async function flood(stage: Stage, request: (index: number) => Ask): Promise<void> {
  for (let index = 0; index < FLOOD; index += 25)
    await Promise.all(Array.from({ length: 25 }, (_, offset) => stage.ask(request(index + offset))))
}

/** Counts the runs of a handler, and how many of them there are at once. */
function counting(handle: Page['handle'] = plain) {
  const counted = { runs: 0, atOnce: 0, most: 0 }
  const counts: Page['handle'] = async (seen, run, look) => {
    counted.runs += 1
    counted.atOnce += 1
    counted.most = Math.max(counted.most, counted.atOnce)
    try {
      return await handle(seen, run, look)
    } finally {
      counted.atOnce -= 1
    }
  }
  return { counted, handle: counts }
}

describe.each(FRAMEWORKS)('floods on %s', (framework) => {
  test('of HEADs of an answer that is never stored cost a run each, and one more in 10 seconds', async () => {
    const { counted, handle } = counting(() => ({ headers: { 'set-cookie': 'a=1' } }))
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      const head = { method: 'HEAD', target: '/page' }
      for (let turn = 0; turn < 10; turn += 1) expect((await stage.ask(head)).status).toBe(200)
      expect(counted.runs).toBe(11)
      await stage.runtime.advance(10_000)
      await stage.ask(head)
      expect(counted.runs).toBe(13)
    })
  })

  test('of HEADs keep no page from being stored that can be', async () => {
    let mayStore = false
    const { counted, handle } = counting(() => ({ headers: mayStore ? {} : { 'set-cookie': 'a=1' } }))
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      await stage.ask({ method: 'HEAD', target: '/page' })
      mayStore = true
      for (const method of ['HEAD', 'GET', 'GET', 'HEAD']) await stage.ask({ method, target: '/page' })
      expect(counted.runs).toBe(4)
    })
  })

  test.each<readonly [string, (index: number) => Ask]>([
    ['Cache-Control: no-cache', () => ({ fields: [['Cache-Control', 'no-cache, no-store, max-age=0']] })],
    ['Pragma: no-cache', () => ({ fields: [['Pragma', 'no-cache']] })],
    [
      'conditions and ranges',
      (index) => ({
        fields: [
          ['If-None-Match', `"${index}"`],
          ['Range', `bytes=${index}-`],
        ],
      }),
    ],
    ['cookies', (index) => ({ fields: [['Cookie', `id=${index}`]] })],
    [
      'fields that no key holds',
      (index) => ({
        fields: [
          ['X-Anything', `${index}`],
          ['User-Agent', `${index}`],
        ],
      }),
    ],
    ['codings', (index) => ({ fields: [['Accept-Encoding', `c${index}, gzip;q=0.${index + 1}`]] })],
    ['parameters that do not count', (index) => ({ target: `/page?utm=${index}&fbclid=${index}` })],
    ['empty parameters', (index) => ({ target: `/page?${'&'.repeat(index)}` })],
    ['fragments', (index) => ({ target: `/page#${index}` })],
    ['bodies', (index) => ({ fields: [['Content-Length', '3']], body: String(100 + index) })],
    ['method overrides', () => ({ fields: [['X-HTTP-Method-Override', 'DELETE']] })],
    [
      'what caches say',
      (index) => ({
        fields: [
          ['Age', `${index}`],
          ['Via', 'evil'],
          ['Cache-Status', 'evil; fwd=miss'],
        ],
      }),
    ],
  ])('of %s do not run the handler while the entry is fresh, and change nothing of it', async (_, request) => {
    const { counted, handle } = counting((seen, run) => ({ ...plain(seen, run), headers: { vary: 'Accept-Encoding' } }))
    const page = { path: '/page', cache: { ...cache, query: ['page'] }, handle }
    await onStage(framework, [page], async (stage) => {
      for (const fields of [[], [['Accept-Encoding', 'gzip'] as const]]) await stage.ask({ target: '/page', fields })
      const runs = counted.runs
      await flood(stage, (index) => ({ target: '/page', ...request(index) }))
      const victim = await stage.get('/page')
      expect([verdict(victim), victim.body, victim.fields['age']]).toEqual([CLEAN, 'run 1', ['0']])
      expect(counted.runs).toBe(runs)
    })
  })

  test.each<readonly [string, (index: number) => Ask]>([
    ['queries', (index) => ({ target: `/page?q=${index}` })],
    ['hosts', (index) => ({ target: '/page', fields: [['Host', `evil${index}.example`]] })],
    ['ports', (index) => ({ target: '/page', fields: [['Host', `shop.example:${1000 + index}`]] })],
  ])(
    'of invented %s cost a run each, of which only maxLoads at once, and push out nothing that is asked for',
    async (_, request) => {
      const runtime = createManualRuntime()
      const door = gate()
      const { counted, handle } = counting(async (seen, run) => {
        if (run > 1) await door.opened
        return plain(seen, run)
      })
      await onStage(
        framework,
        [{ path: '/page', cache: { ...cache, maxLoads: 5 }, handle }],
        async (stage) => {
          await stage.get('/page')
          const first = flood(stage, request)
          await until(() => counted.atOnce === 5)
          expect((await stage.get('/page')).body).toBe('run 1')
          door.open()
          await first
          expect((await stage.get('/page')).body).toBe('run 1')
          await flood(stage, (index) => request(FLOOD + index))
          expect((await stage.get('/page')).body).toBe('run 1')
          expect(counted).toMatchObject({ runs: 1 + 2 * FLOOD, most: 5 })
        },
        { cache: { runtime, store: memoryStore({ runtime, maxEntries: FLOOD + 50 }) } },
      )
    },
  )

  test('of invented hosts leave no entry where the hosts are listed', async () => {
    const { counted, handle } = counting()
    await onStage(
      framework,
      [{ path: '/page', cache: { ...cache, hosts: ['shop.example'] }, handle }],
      async (stage) => {
        await stage.get('/page')
        await flood(stage, (index) => ({ target: '/page', fields: [['Host', `evil${index}.example`]] }))
        expect((await stage.get('/page')).body).toBe('run 1')
        expect([counted.runs, stage.count('commit')]).toEqual([1 + FLOOD, 1])
      },
    )
  })

  test('of values that an answer varies by keep maxVariants of them', async () => {
    const { counted, handle } = counting(({ headers }: Seen) => ({
      headers: { vary: 'X-Kind' },
      body: String(headers['x-kind']),
    }))
    const kind = (value: string): Ask => ({ target: '/page', fields: [['X-Kind', value]] })
    await onStage(framework, [{ path: '/page', cache: { ...cache, maxVariants: 8 }, handle }], async (stage) => {
      await flood(stage, (index) => kind(`k${index}`))
      expect(counted.runs).toBe(FLOOD)
      for (const value of ['k199', 'k1', 'none']) expect((await stage.ask(kind(value))).body).toBe(value)
      expect(counted.runs).toBeLessThanOrEqual(FLOOD + 3)
    })
  })

  test('of names to vary by make the answer nobody’s, and hold nobody up', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `X-${index}`).join(', ')
    const { counted, handle } = counting((seen, run) => ({ ...plain(seen, run), headers: { vary: names } }))
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => stage.get('/page')))
      for (const answer of answers) expect(verdict(answer)).toEqual(CLEAN)
      expect([counted.runs, stage.count('commit')]).toEqual([20, 0])
    })
  })

  test('of followers beyond maxWaitersPerKey are turned away at once, the others get the one answer', async () => {
    const door = gate()
    const { counted, handle } = counting(async (seen, run) => {
      await door.opened
      return plain(seen, run)
    })
    const options = { cache: { runtime: createManualRuntime(), maxWaiters: 100, maxWaitersPerKey: 50 } }
    await onStage(
      framework,
      [{ path: '/page', cache, handle }],
      async (stage) => {
        const asked = Array.from({ length: FLOOD }, () => stage.get('/page'))
        await stage.seen('load', 1)
        const refused: number[] = []
        for (const one of asked) void one.then(({ status }) => status === 503 && refused.push(status))
        while (refused.length < FLOOD - 51) await new Promise(setImmediate)
        door.open()
        const answers = await Promise.all(asked)
        const served = answers.filter(({ status, body }) => status === 200 && body === 'run 1')
        const turned = answers.filter(({ status, fields }) => status === 503 && fields['retry-after']?.[0] === '1')
        expect(served.length + turned.length).toBe(FLOOD)
        expect(served.length).toBeLessThanOrEqual(51)
        expect(counted.runs).toBe(1)
        expect((await stage.get('/page')).body).toBe('run 1')
      },
      options,
    )
  })

  test('of bodies at a cold page cost their own clients a run each, and the honest client gets his', async () => {
    const { counted, handle } = counting()
    await onStage(framework, [{ path: '/page', cache, handle }], async (stage) => {
      const fat: Ask = { target: '/page', fields: [['Content-Length', '4']], body: 'evil' }
      const attack = Array.from({ length: 50 }, () => stage.ask(fat))
      const victim = await stage.get('/page')
      expect(verdict(victim)).toEqual(CLEAN)
      await Promise.all(attack)
      const entry = (await stage.get('/page')).body
      expect((await stage.ask(fat)).body).toBe(entry)
      expect(counted.runs).toBeLessThanOrEqual(52)
    })
  })
})
