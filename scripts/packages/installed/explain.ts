import { strict as assert } from 'node:assert'
import { createCache } from '@cattlegrid/core'
import { explain } from '@cattlegrid/explain'

/** A cache that tells what happened to a key. */
export async function check(): Promise<void> {
  const cache = createCache({ ttl: '30s' })
  const diagnosis = explain(cache)
  await cache.getOrSet('7', async () => 'loaded')
  const { events, state } = await diagnosis.explain('7')
  assert.ok(events.some(({ type }) => type === 'load'))
  assert.equal(state?.state, 'fresh')
  await cache.close()
}
