import { strict as assert } from 'node:assert'
import { json } from '@cattlegrid/core'
import { NO_VERSION } from '@cattlegrid/core/extend'
import {
  ask,
  entryOf,
  fill,
  found,
  lead,
  LONG,
  MEDIUM,
  missing,
  onStage,
  SHORT,
  type StoreContract,
  outcomeOf,
} from './stage.ts'

/** The lease decides which process may refresh a key. */
export function describeLeases({ factory, describe, test }: StoreContract): void {
  describe('a lease', () => {
    test('is granted to one of many concurrent callers', () =>
      onStage(factory, async ({ here, there }) => {
        const asked = Array.from({ length: 20 }, (_, index) => ask(index % 2 === 0 ? here : there, 'k'))
        const words = (await Promise.all(asked)).map(outcomeOf)
        assert.deepEqual(words.toSorted(), [...Array<string>(19).fill('held'), 'lead'])
      }))

    test('has a remaining time, which the other callers get', () =>
      onStage(factory, async ({ here, there }) => {
        await lead(here, 'k', { duration: LONG })
        const answer = await ask(there, 'k')
        assert.ok(answer.kind === 'held' && answer.remaining > 0 && answer.remaining <= LONG, JSON.stringify(answer))
      }))

    test('of one key does not block another key', () =>
      onStage(factory, async ({ here, there }) => {
        await lead(here, 'k')
        await lead(there, 'k2')
      }))

    test('has the key, a token that is never used twice, and at first no failed attempts', () =>
      onStage(factory, async ({ here, there }) => {
        const [one, two] = [await lead(here, 'one'), await lead(there, 'two')]
        assert.deepEqual([one.key, one.attempts], ['one', 0])
        assert.notEqual(one.token, two.token)
      }))

    test('ends by itself when its holder has died', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await lead(here, 'k', { duration: SHORT })
        await advance(SHORT)
        await lead(there, 'k')
      }))

    test('lasts as long as it is renewed', () =>
      onStage(factory, async ({ here, there, advance }) => {
        const lease = await lead(here, 'k', { duration: MEDIUM })
        assert.equal(outcomeOf(await here.renew(lease, LONG)), 'renewed')
        await advance(MEDIUM)
        assert.equal(outcomeOf(await ask(there, 'k')), 'held')
        assert.equal(outcomeOf(await here.commit(lease, entryOf(1), json)), 'stored')
      }))

    test('can be cut short by a renewal', () =>
      onStage(factory, async ({ here, there, advance }) => {
        assert.equal(outcomeOf(await here.renew(await lead(here, 'k'), SHORT)), 'renewed')
        await advance(SHORT)
        await lead(there, 'k')
      }))

    test('is no longer its holder’s once another holds it', () =>
      onStage(factory, async ({ here, there, advance }) => {
        const late = await lead(here, 'k', { duration: SHORT })
        await advance(SHORT)
        const lease = await lead(there, 'k')
        assert.equal(outcomeOf(await here.renew(late, LONG)), 'refused: taken')
        assert.equal(outcomeOf(await here.release(late, { kind: 'handover' })), 'refused: taken')
        assert.equal(outcomeOf(await here.commit(late, entryOf('late'), json)), 'refused: taken')
        assert.equal(outcomeOf(await there.commit(lease, entryOf('in time'), json)), 'stored')
        assert.equal((await found(here, 'k')).value, 'in time')
      }))

    test('that has expired, while no other caller wants it, is its holder’s in every step or in none', () =>
      onStage(factory, async ({ here, advance }) => {
        const renewed = await lead(here, 'renewed', { duration: SHORT })
        const released = await lead(here, 'released', { duration: SHORT })
        const committed = await lead(here, 'committed', { duration: SHORT })
        await advance(SHORT)
        const outcomes = [
          outcomeOf(await here.renew(renewed, LONG)),
          outcomeOf(await here.release(released, { kind: 'handover' })),
          outcomeOf(await here.commit(committed, entryOf('late'), json)),
        ]
        const held = outcomes.includes('stored')
        assert.deepEqual(outcomes, held ? ['renewed', 'released', 'stored'] : Array(3).fill('refused: expired'))
        if (held) assert.equal((await found(here, 'committed')).value, 'late')
        else await missing(here, 'committed')
      }))

    test('that has expired is not its holder’s after an invalidation', () =>
      onStage(factory, async ({ here, there, advance }) => {
        const late = await lead(here, 'k', { duration: SHORT })
        await advance(SHORT)
        await there.invalidate('k', 'delete', 0)
        assert.match(outcomeOf(await here.commit(late, entryOf('late'), json)), /^refused/)
        await missing(here, 'k')
      }))

    test('is refused to a caller that has not seen the entry that was committed meanwhile', () =>
      onStage(factory, async ({ here, there }) => {
        const { version } = await fill(here, 'k', 'new')
        assert.equal(outcomeOf(await ask(there, 'k', { seen: NO_VERSION })), 'changed')
        assert.equal(outcomeOf(await ask(there, 'k', { seen: `${version.slice(0, -1)}x` })), 'changed')
        await lead(there, 'k', { seen: version })
      }))

    test('is not granted to a caller that saw an entry which is gone by now, before it reads again', () =>
      onStage(factory, async ({ here, there }) => {
        const { version } = await fill(here, 'k', 1)
        await here.invalidate('k', 'delete', 0)
        assert.equal(outcomeOf(await ask(there, 'k', { seen: version })), 'changed')
        await lead(there, 'k')
      }))
  })
}
