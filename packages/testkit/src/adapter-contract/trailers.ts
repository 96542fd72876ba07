import { strict as assert } from 'node:assert'
import type { Received } from './client.ts'
import { type ContractAnswer, counted, stream } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '10s', cacheStatus: true } as const

function withTrailers(body: string, status = 200): ContractAnswer {
  const answer = stream([body], { 'content-type': 'text/plain', 'x-kind': 'summed' })
  return { ...answer, status, trailers: { 'x-sum': '7' } } as ContractAnswer
}

function hasNone({ headers, trailers }: Received, length: number): void {
  assert.deepEqual(trailers, {})
  assert.equal(headers['trailer'], undefined)
  assert.equal(headers['x-sum'], undefined)
  assert.equal(headers['content-length'], String(length))
}

/** Trailer fields (RFC 9110 section 6.5) reach only the client whose own handler sent them. */
export function describeTrailers({ factory, describe, test }: Contract): void {
  describe('a response with trailers', () => {
    test('reaches its own client with them, and is stored without them and without the Trailer field', async () => {
      const origin = counted((run) => withTrailers(`run ${run}`))
      await onStage(factory, [{ path: '/summed', cache, handle: origin.handle }], async (stage) => {
        const first = await stage.ask('/summed')
        assert.equal(first.text, 'run 1')
        assert.deepEqual(first.trailers, { 'x-sum': '7' })
        await stage.seen('commit', 1)
        const second = await stage.ask('/summed')
        assert.equal(second.text, 'run 1')
        assert.equal(second.headers['x-kind'], 'summed')
        hasNone(second, 5)
        assert.equal(origin.runs, 1)
      })
    })

    test('is shared with followers without them', async () => {
      const gate = createGate()
      const origin = counted(async (run) => {
        await gate.opened
        return withTrailers(`run ${run}`)
      })
      await onStage(factory, [{ path: '/awaited', cache, handle: origin.handle }], async (stage) => {
        const leader = stage.ask('/awaited')
        await stage.seen('load', 1)
        const follower = stage.ask('/awaited')
        await stage.seen('join', 1)
        gate.open()
        assert.deepEqual((await leader).trailers, { 'x-sum': '7' })
        hasNone(await follower, 5)
        assert.equal(origin.runs, 1)
      })
    })

    test('has no Trailer field as a hit, although a layer outside sets it on every response', async () => {
      const origin = counted(() => withTrailers('one'))
      const before = () => ({ headers: { trailer: 'x-sum' } })
      await onStage(factory, [{ path: '/announced', cache, before, handle: origin.handle }], async (stage) => {
        assert.equal((await stage.ask('/announced')).text, 'one')
        await stage.seen('commit', 1)
        const second = await stage.ask('/announced')
        assert.equal(second.text, 'one')
        hasNone(second, 3)
        assert.equal(origin.runs, 1)
      })
    })

    test(
      'that is a failure leaves none of them on the stale response that replaces it',
      async () => {
        const origin = counted((run) => (run === 1 ? stream(['good']) : withTrailers('bad', 503)))
        const route = { path: '/fails', cache: { ...cache, staleIfError: '1h' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          await stage.ask('/fails')
          await stage.seen('commit', 1)
          await stage.runtime.advance(11_000)
          const stale = await stage.ask('/fails')
          assert.equal(stale.text, 'good')
          hasNone(stale, 4)
          assert.equal(origin.runs, 2)
        })
      },
      'time',
    )
  })
}
