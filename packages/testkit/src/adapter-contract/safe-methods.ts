import { strict as assert } from 'node:assert'
import { METHODS } from 'node:http'
import { type ContractRoute, counted, json, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const fresh = { 'cache-control': 'max-age=600' }

/** The safe methods beside GET, HEAD, OPTIONS and TRACE. An older Node does not know QUERY. */
const SAFE = (['PROPFIND', 'REPORT', 'SEARCH', 'QUERY'] as const).filter((method) => METHODS.includes(method))

/** A server rejects a QUERY without content, or without its type (RFC 10008 section 2). */
const QUESTION = { headers: { 'content-type': 'application/json' }, body: '{}' }

/** RFC 9110 section 9.2.1: a safe method changes nothing, so it invalidates nothing. */
export function describeSafeMethods({ factory, describe, test }: Contract): void {
  describe('a safe method', () => {
    for (const method of SAFE)
      test(`(${method}) invalidates nothing`, async () => {
        const page = counted((run) => text(`run ${run}`, fresh))
        const routes: readonly ContractRoute[] = [
          { path: '/a', handle: page.handle },
          { method, path: '/a', handle: async () => json({ found: [] }) },
        ]
        await onStage(factory, routes, async (stage) => {
          await stage.ask('/a')
          assert.equal((await stage.ask('/a', { method, ...QUESTION })).status, 200)
          assert.equal((await stage.ask('/a')).text, 'run 1')
        })
      })
  })
}
