import { strict as assert } from 'node:assert'
import type { Store } from '@cattlegrid/core'
import type { Inspection } from '@cattlegrid/core/extend'
import { ask, fill, lead, LONG, onStage, type StoreContract } from './stage.ts'

async function inspect(store: Store, key: string): Promise<Inspection> {
  const answer = await store.inspect(key)
  assert.ok(answer.kind !== 'away', 'away')
  return answer
}

/** The state of a key, as `inspect` shows it to a developer. */
export function describeInspection({ factory, describe, test }: StoreContract): void {
  describe('inspect', () => {
    test('shows nothing for a key without an entry and a lease', () =>
      onStage(factory, async ({ here }) => {
        const { entry, lease, cooldown } = await inspect(here, 'k')
        assert.deepEqual([entry, lease, cooldown], [undefined, undefined, undefined])
      }))

    test('shows an entry, and that no process refreshes it', () =>
      onStage(factory, async ({ here, there }) => {
        const { value, version } = await fill(here, 'k', { a: [1] })
        const { entry, lease } = await inspect(there, 'k')
        assert.deepEqual([entry?.value, entry?.version, lease], [value, version, undefined])
      }))

    test('shows a lease, its age, its remaining time, and whether a caller waits', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await lead(here, 'k')
        await advance(20)
        const { entry, lease, cooldown } = await inspect(there, 'k')
        assert.ok(lease !== undefined && entry === undefined && cooldown === undefined)
        assert.ok(lease.heldFor >= 20 && lease.heldFor < LONG, `held for ${lease.heldFor}`)
        assert.ok(lease.remaining > 0 && lease.remaining <= LONG - 20, `remaining ${lease.remaining}`)
        assert.equal(lease.awaited, false)
        await ask(there, 'k', { wake: true })
        assert.equal((await inspect(here, 'k')).lease?.awaited, true)
      }))

    test('shows a cooldown and its reason', () =>
      onStage(factory, async ({ here, there }) => {
        const failure = { name: 'TypeError' }
        await here.release(await lead(here, 'k'), { kind: 'failed', failure, cooldown: LONG, attempts: 2 })
        const { lease, cooldown } = await inspect(there, 'k')
        assert.deepEqual([lease, cooldown?.attempts, cooldown?.failure], [undefined, 2, failure])
        assert.ok(cooldown !== undefined && cooldown.remaining > 0 && cooldown.remaining <= LONG)
      }))
  })
}
