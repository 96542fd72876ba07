import { strict as assert } from 'node:assert'
import { type ContractRequest, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '10s', loadTimeout: '1s', cacheStatus: true } as const

/** Sends a request from inside a handler, for the URL of that handler. */
async function askItself(
  { url, headers }: ContractRequest,
  forwarded: Readonly<Record<string, string>>,
): Promise<Response> {
  return await fetch(`http://${String(headers.host)}${url}`, { headers: forwarded })
}

const forwardedBy = ({ headers }: ContractRequest): Record<string, string> => ({
  'cdn-loop': String(headers['cdn-loop'] ?? ''),
})

/** Without loop detection, a handler that requests its own URL would wait for itself. */
export function describeLoops({ factory, describe, test }: Contract): void {
  describe('a handler that requests its own URL', () => {
    test('and forwards its header fields is recognised: the inner request runs its own handler at once', async () => {
      const origin = counted(async (_, request) => {
        if (request.headers['x-inner'] !== undefined) return text('inner')
        const inner = await askItself(request, { ...forwardedBy(request), 'x-inner': '1' })
        return text(`${await inner.text()}: ${inner.headers.get('cache-status')}`)
      })
      await onStage(factory, [{ path: '/own', cache, handle: origin.handle }], async (stage) => {
        const outer = await stage.ask('/own')
        assert.equal(outer.text, 'inner: cattlegrid; fwd=bypass; detail=loop')
        await stage.seen('commit', 1)
        assert.equal((await stage.ask('/own')).text, outer.text)
        assert.equal(origin.runs, 2)
      })
    })

    test(
      'and forwards nothing waits for itself until loadTimeout, and then ends',
      async () => {
        const origin = counted(async (_, request) => text(`it said ${(await askItself(request, {})).status}`))
        await onStage(factory, [{ path: '/own', cache, handle: origin.handle }], async (stage) => {
          const outer = stage.ask('/own')
          await stage.seen('join', 1)
          await stage.runtime.advance(1001)
          assert.equal((await outer).status, 504)
          assert.equal(origin.runs, 1)
        })
      },
      'time',
    )

    test(
      'in every run bypasses the cache once, and then ends at loadTimeout',
      async () => {
        const origin = counted(async (run, request) => {
          const inner = await askItself(request, forwardedBy(request))
          return text(`${run}: ${inner.status}`)
        })
        await onStage(factory, [{ path: '/own', cache, handle: origin.handle }], async (stage) => {
          const outer = stage.ask('/own')
          await stage.seen('join', 1)
          assert.equal(origin.runs, 2)
          await stage.runtime.advance(1001)
          assert.equal((await outer).status, 504)
        })
      },
      'time',
    )

    test('cannot be imitated by a client: its request follows and is served like any other', async () => {
      const gate = createGate()
      const seen: unknown[] = []
      const origin = counted(async (run, { headers }) => {
        seen.push(headers['cdn-loop'])
        await gate.opened
        return text(`run ${run}`)
      })
      const headers = { 'cdn-loop': 'cattlegrid; load=AAAAAAAAAAAAAAAAAAAAAA' }
      await onStage(factory, [{ path: '/feigned', cache, handle: origin.handle }], async (stage) => {
        const leader = stage.ask('/feigned', { headers })
        await stage.seen('load', 1)
        const follower = stage.ask('/feigned', { headers })
        await stage.seen('join', 1)
        gate.open()
        assert.deepEqual([(await leader).text, (await follower).text], ['run 1', 'run 1'])
        assert.match(String(seen[0]), /^cattlegrid; load=A{22}, cattlegrid; load=[^\s,;]+$/)
      })
    })
  })
}
