import { strict as assert } from 'node:assert'
import type { Received } from './client.ts'
import { bytes, type ContractAnswer, counted, json, stream, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const LINES = Array.from({ length: 4000 }, (_, line) => `line ${line} of a body that needs many chunks\n`)

const ANSWERS: readonly (readonly [string, () => ContractAnswer, string])[] = [
  ['JSON', () => json({ name: 'näme', list: [1, 2] }), '{"name":"näme","list":[1,2]}'],
  ['text', () => text('plain ☂'), 'plain ☂'],
  ['an empty text', () => text(''), ''],
  ['a Buffer', () => bytes(Buffer.from([0, 255, 10, 128])), Buffer.from([0, 255, 10, 128]).toString()],
  ['a stream', () => stream(LINES, { 'content-type': 'text/plain' }), LINES.join('')],
]

/** Concurrent requests share one run of the handler; later requests cause none. */
export function describeCollapse({ factory, describe, test }: Contract): void {
  const ttl = '10s'

  describe('one run for many requests', () => {
    for (const [kind, answer, whole] of ANSWERS) {
      test(`50 concurrent requests for ${kind} cause one run of the handler, and each gets the whole response`, async () => {
        const gate = createGate()
        const origin = counted(async () => {
          await gate.opened
          return answer()
        })
        await onStage(factory, [{ path: '/hot', cache: { ttl }, handle: origin.handle }], async (stage) => {
          const crowd = stage.crowd(50, '/hot')
          await stage.seen('join', 49)
          gate.open()
          for (const received of await crowd) expectWhole(received, whole)
          expectWhole(await stage.ask('/hot'), whole)
          assert.equal(origin.runs, 1)
        })
      })
    }

    test(
      'a hit runs no handler, repeats the stored header fields and has an Age',
      async () => {
        const origin = counted(() => text('one', { 'x-price': '5', 'content-type': 'text/x-own; charset=utf-8' }))
        await onStage(factory, [{ path: '/hit', cache: { ttl }, handle: origin.handle }], async (stage) => {
          const first = await stage.ask('/hit')
          await stage.seen('commit', 1)
          await stage.runtime.advance(3000)
          const hit = await stage.ask('/hit')
          assert.equal(origin.runs, 1)
          assert.equal(first.headers['age'], undefined)
          assert.equal(hit.headers['age'], '3')
          assert.equal(hit.headers['x-price'], '5')
          assert.equal(hit.headers['content-type'], first.headers['content-type'])
          // Node sets `Date` on the first response, slightly later than the cache sets it on the stored one.
          const between = Date.parse(String(hit.headers['date'])) - Date.parse(String(first.headers['date']))
          assert.ok(Math.abs(between) <= 5000, `the hit is dated ${between} ms from the answer it repeats`)
          assert.equal(hit.headers['content-length'], '3')
        })
      },
      'time',
    )

    test('a layer outside sets its own fields on each response, and its earlier ones are not repeated', async () => {
      let asked = 0
      const origin = counted(() => text('one', { 'x-inside': 'kept' }))
      const before = () => ({ headers: { 'x-request-id': `request ${++asked}` } })
      await onStage(factory, [{ path: '/outer', cache: { ttl }, before, handle: origin.handle }], async (stage) => {
        assert.equal((await stage.ask('/outer')).headers['x-request-id'], 'request 1')
        const hit = await stage.ask('/outer')
        assert.equal(hit.headers['x-request-id'], 'request 2')
        assert.equal(hit.headers['x-inside'], 'kept')
        assert.equal(origin.runs, 1)
      })
    })

    test(
      'an entry that has expired is loaded again, once',
      async () => {
        const origin = counted((run) => text(`run ${run}`))
        await onStage(factory, [{ path: '/expires', cache: { ttl }, handle: origin.handle }], async (stage) => {
          assert.equal((await stage.ask('/expires')).text, 'run 1')
          await stage.runtime.advance(10_001)
          for (const { text: body } of await stage.crowd(20, '/expires')) assert.equal(body, 'run 2')
          assert.equal(origin.runs, 2)
        })
      },
      'time',
    )
  })
}

function expectWhole(received: Received, whole: string): void {
  assert.equal(received.status, 200)
  assert.ok(received.text === whole, `${received.text.length} characters instead of ${whole.length}`)
}
