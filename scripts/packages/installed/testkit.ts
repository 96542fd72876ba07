import { strict as assert } from 'node:assert'
import { createCache } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'

/** A cache whose clock the test moves. */
export async function check(): Promise<void> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, ttl: '1m' })
  let loads = 0
  const price = (): Promise<number> => cache.getOrSet('price', () => (loads += 1))
  assert.deepEqual(
    await Promise.all(Array.from({ length: 20 }, price)),
    Array.from({ length: 20 }, () => 1),
  )
  await runtime.advance(59_000)
  assert.equal(await price(), 1)
  await runtime.advance(1_000)
  assert.equal(await price(), 2)
}
