import { strict as assert } from 'node:assert'
import { json } from '@cattlegrid/core'
import { entryOf, fill, lead, LONG, missing, onStage, type StoreContract, outcomeOf } from './stage.ts'

/** `clear` removes every entry and ends every lease. */
export function describeClearing({ factory, describe, test }: StoreContract): void {
  describe('clear', () => {
    test('removes every entry, and returns their number', () =>
      onStage(factory, async ({ here, there }) => {
        const keys = ['a', '', '{b}', '🐄', 'c:l', 'tags', 'x'.repeat(300)]
        for (const key of keys) await fill(here, key, 1, { staleIfError: LONG })
        assert.deepEqual(await there.clear(), { kind: 'cleared', entries: keys.length })
        for (const key of keys) await missing(here, key)
        assert.deepEqual(await here.clear(), { kind: 'cleared', entries: 0 })
      }))

    test('voids every load that began before', () =>
      onStage(factory, async ({ here, there }) => {
        const lease = await lead(here, 'k')
        assert.deepEqual(await there.clear(), { kind: 'cleared', entries: 0 })
        assert.equal(outcomeOf(await here.commit(lease, entryOf(1), json)), 'refused: voided')
        await missing(there, 'k')
      }))

    test('ends cooldowns and uncacheable marks', () =>
      onStage(factory, async ({ here, there }) => {
        const failed = { kind: 'failed', failure: { name: 'Error' }, cooldown: LONG, attempts: 1 } as const
        await here.release(await lead(here, 'failing'), failed)
        await here.release(await lead(here, 'private'), { kind: 'uncacheable', for: LONG, share: false })
        await there.clear()
        await Promise.all([lead(here, 'failing'), lead(here, 'private')])
      }))

    test('forgets no tag: an entry that was void before does not come back', () =>
      onStage(factory, async ({ here, there }) => {
        const lease = await lead(here, 'k')
        await there.invalidateTags(['t'], 'delete')
        assert.deepEqual(await there.clear(), { kind: 'cleared', entries: 0 })
        assert.equal((await here.commit(lease, entryOf(1, { tags: ['t'] }), json)).kind, 'refused')
        await fill(here, 'k', 2, { tags: ['t'] })
      }))
  })
}
