import { strict as assert } from 'node:assert'
import type { Ask } from './client.ts'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const cache = { ttl: '10s' } as const

type Target = readonly [string, Ask?]

/** Pairs of requests that share one entry. */
const SAME: readonly (readonly [string, Target, Target])[] = [
  ['an empty query', ['/k/a?'], ['/k/a']],
  [
    'the case of the host',
    ['/k/a', { headers: { host: 'Shop.Example' } }],
    ['/k/a', { headers: { host: 'shop.example' } }],
  ],
  [
    'the default port',
    ['/k/a', { headers: { host: 'shop.example:80' } }],
    ['/k/a', { headers: { host: 'shop.example' } }],
  ],
]

/** Pairs of requests that have separate entries. */
const APART: readonly (readonly [string, Target, Target])[] = [
  ['the path', ['/k/a'], ['/k/b']],
  ['the case of the path', ['/k/a'], ['/k/A']],
  ['a parameter’s value', ['/k/a?x=1'], ['/k/a?x=2']],
  ['a parameter more', ['/k/a'], ['/k/a?x=1']],
  ['the order of the parameters', ['/k/a?b=2&a=1'], ['/k/a?a=1&b=2']],
  ['the order of one parameter’s values', ['/k/a?x=1&x=2'], ['/k/a?x=2&x=1']],
  ['an escaped ampersand', ['/k/a?x=1%26y=2'], ['/k/a?x=1&y=2']],
  ['an escaped slash', ['/k/a%2Fb'], ['/k/a-b']],
  ['the host', ['/k/a', { headers: { host: 'one.example' } }], ['/k/a', { headers: { host: 'two.example' } }]],
  ['the port', ['/k/a', { headers: { host: 'one.example:81' } }], ['/k/a', { headers: { host: 'one.example' } }]],
  ['the scheme', ['/k/a', { headers: { 'x-forwarded-proto': 'https' } }], ['/k/a']],
]

const ODD: readonly string[] = [
  '/k/%E2%98%82',
  '/k/%7Bbraces%7D',
  '/k/{braces}',
  '/k/a:b*c',
  '/k/%00',
  '/k/a%0d%0aset-cookie:x',
  `/k/${'long'.repeat(500)}`,
  '/k/a?%',
  '/k/a?=&&=',
  '/k/a?__proto__=1&constructor=2',
  '/k/a?x[]=1&x[]=2;y=3',
]

/** The parts of a request that make its key. */
export function describeKeys({ factory, describe, test }: Contract): void {
  const routes = (origin: ReturnType<typeof counted>) => [{ path: '/k/:id', cache, handle: origin.handle }]

  describe('the entry of a request', () => {
    for (const [what, one, other] of SAME) {
      test(`${what} makes no difference`, async () => {
        const origin = counted((run) => text(`run ${run}`))
        await onStage(factory, routes(origin), async (stage) => {
          for (const [target, request] of [one, other])
            assert.equal((await stage.ask(target, request)).text, 'run 1', target)
        })
      })
    }

    for (const [what, one, other] of APART) {
      test(`${what} makes two entries`, async () => {
        const origin = counted((run) => text(`run ${run}`))
        await onStage(factory, routes(origin), async (stage) => {
          for (const run of [1, 2, 1, 2]) {
            const [target, request] = run === 1 ? one : other
            assert.equal((await stage.ask(target, request)).text, `run ${run}`, target)
          }
        })
      })
    }

    for (const target of ODD) {
      test(`${target.slice(0, 40)} has an entry of its own, or none`, async () => {
        const origin = counted((_, { url }) => text(url))
        await onStage(factory, routes(origin), async (stage) => {
          const plain = await stage.ask('/k/a')
          for (let turn = 0; turn < 2; turn += 1) {
            const { status, text: body } = await stage.ask(target)
            if (status === 200) assert.equal(encoded(body), encoded(target))
            else assert.ok(status >= 400 && status < 500, String(status))
          }
          assert.ok(origin.runs <= 2)
          assert.equal((await stage.ask('/k/a')).text, plain.text)
          assert.ok(origin.runs <= 2)
        })
      })
    }

    test('a target of more than 8 KiB bypasses the cache', async () => {
      const origin = counted((run) => text(`run ${run}`))
      await onStage(factory, routes(origin), async (stage) => {
        const target = `/k/a?x=${'y'.repeat(9000)}`
        assert.equal((await stage.ask(target)).text, 'run 1')
        assert.equal((await stage.ask(target)).text, 'run 2')
      })
    })

    test('HEAD and GET of one target share one entry, and POST has none', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const all = [...routes(origin), { method: 'POST', path: '/k/:id', cache, handle: origin.handle } as const]
      await onStage(factory, all, async (stage) => {
        await stage.ask('/k/a', { method: 'POST' })
        assert.equal((await stage.ask('/k/a')).text, 'run 2')
        await stage.ask('/k/a', { method: 'HEAD' })
        assert.equal(origin.runs, 2)
      })
    })
  })
}

/** Decodes the characters that a URL may contain encoded or plain. */
function encoded(target: string): string {
  return target.replaceAll(/%[\da-f]{2}/gi, (code) => code.toUpperCase()).replaceAll(/[{}]/g, encodeURIComponent)
}
