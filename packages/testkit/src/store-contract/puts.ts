import { strict as assert } from 'node:assert'
import { json } from '@cattlegrid/core'
import { ask, entryOf, fill, found, lead, LONG, onStage, type StoreContract, outcomeOf } from './stage.ts'

/** A write without a lease. */
export function describePuts({ factory, describe, test }: StoreContract): void {
  describe('a put', () => {
    test('is read by every process, with the version that it returned', () =>
      onStage(factory, async ({ here, there }) => {
        const answer = await here.put('k', entryOf({ price: 4 }), json)
        const entry = await found(there, 'k')
        assert.deepEqual([entry.value, answer], [{ price: 4 }, { kind: 'stored', version: entry.version }])
      }))

    test('voids a load that began before it', () =>
      onStage(factory, async ({ here, there }) => {
        const lease = await lead(here, 'k')
        await there.put('k', entryOf('put'), json)
        assert.equal(outcomeOf(await here.renew(lease, LONG)), 'refused: voided')
        assert.equal(outcomeOf(await here.commit(lease, entryOf('loaded'), json)), 'refused: voided')
        assert.equal((await found(here, 'k')).value, 'put')
      }))

    test('has changed the key for a caller that read before it', () =>
      onStage(factory, async ({ here, there }) => {
        const { version } = await fill(here, 'k', 'old')
        await there.put('k', entryOf('put'), json)
        assert.equal(outcomeOf(await ask(here, 'k', { seen: version })), 'changed')
        await lead(here, 'k', { seen: (await found(here, 'k')).version })
      }))

    test('gives every write a version of its own', () =>
      onStage(factory, async ({ here, there }) => {
        const versions: string[] = []
        for (let count = 0; count < 20; count += 1) {
          const answer = await (count % 2 === 0 ? here : there).put('k', entryOf(count), json)
          if (answer.kind === 'stored') versions.push(answer.version)
        }
        assert.equal(new Set(versions).size, 20)
      }))

    test('ends a cooldown', () =>
      onStage(factory, async ({ here, there }) => {
        const ending = { kind: 'failed', failure: { name: 'Error' }, cooldown: LONG, attempts: 1 } as const
        await here.release(await lead(here, 'k'), ending)
        await there.put('k', entryOf(1), json)
        const { version } = await found(here, 'k')
        assert.equal((await lead(here, 'k', { seen: version })).attempts, 0)
      }))

    test('ends an uncacheable mark', () =>
      onStage(factory, async ({ here, there }) => {
        await here.release(await lead(here, 'k'), { kind: 'uncacheable', for: LONG, share: false })
        await there.put('k', entryOf(1), json)
        await lead(here, 'k', { seen: (await found(here, 'k')).version })
      }))
  })
}
