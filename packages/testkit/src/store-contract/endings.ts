import { strict as assert } from 'node:assert'
import { type Failure, json, type Store } from '@cattlegrid/core'
import type { Lease } from '@cattlegrid/core/extend'
import {
  ask,
  entryOf,
  fill,
  lead,
  LONG,
  MEDIUM,
  missing,
  onStage,
  SHORT,
  type StoreContract,
  outcomeOf,
} from './stage.ts'

const failure: Failure = { name: 'TimeoutError', code: 'ETIMEDOUT' }

function fail(store: Store, lease: Lease, cooldown: number): Promise<{ readonly kind: string }> {
  return store.release(lease, { kind: 'failed', failure, cooldown, attempts: lease.attempts + 1 })
}

/** The ways to end a lease without a commit. */
export function describeEndings({ factory, describe, test }: StoreContract): void {
  describe('a hand-over', () => {
    test('frees the key at once', () =>
      onStage(factory, async ({ here, there }) => {
        assert.equal(outcomeOf(await here.release(await lead(here, 'k'), { kind: 'handover' })), 'released')
        await lead(there, 'k')
      }))

    test('happens once', () =>
      onStage(factory, async ({ here, there }) => {
        const lease = await lead(here, 'k')
        await here.release(lease, { kind: 'handover' })
        assert.equal(outcomeOf(await here.release(lease, { kind: 'handover' })), 'refused: voided')
        await lead(there, 'k')
        assert.equal(outcomeOf(await here.release(lease, { kind: 'handover' })), 'refused: taken')
        assert.equal(outcomeOf(await ask(here, 'k')), 'held')
      }))
  })

  describe('a failed load', () => {
    test('keeps every process from loading while the key cools down, and gives the reason', () =>
      onStage(factory, async ({ here, there }) => {
        assert.equal(outcomeOf(await fail(here, await lead(here, 'k'), LONG)), 'released')
        for (const store of [here, there]) {
          const answer = await ask(store, 'k')
          assert.ok(answer.kind === 'cooling', outcomeOf(answer))
          assert.deepEqual([answer.failure, answer.attempts], [failure, 1])
          assert.ok(answer.remaining > 0 && answer.remaining <= LONG, String(answer.remaining))
        }
      }))

    test('is not believed to cool down for longer than the caller’s maxCooldown, and keeps its count', () =>
      onStage(factory, async ({ here, there }) => {
        await fail(here, await lead(here, 'k'), LONG)
        assert.equal(outcomeOf(await ask(there, 'k', { maxCooldown: LONG })), 'cooling')
        const second = await lead(there, 'k', { maxCooldown: LONG - 5000 })
        assert.equal(second.attempts, 1)
      }))

    test('lets one caller load again after the cooldown, with the number of failures', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await fail(here, await lead(here, 'k'), SHORT)
        await advance(SHORT)
        const second = await lead(there, 'k')
        assert.equal(second.attempts, 1)
        assert.equal(outcomeOf(await ask(here, 'k')), 'held')
        await fail(there, second, SHORT)
        await advance(SHORT)
        assert.equal((await lead(here, 'k')).attempts, 2)
      }))

    test('is forgotten with the next commit', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await fail(here, await lead(here, 'k'), SHORT)
        await advance(SHORT)
        await here.commit(await lead(here, 'k'), entryOf(1), json)
        await here.invalidate('k', 'delete', 0)
        assert.equal((await lead(there, 'k')).attempts, 0)
      }))

    test('leaves the entry in place', () =>
      onStage(factory, async ({ here, there }) => {
        const { version } = await fill(here, 'k', 'old')
        await fail(there, await lead(there, 'k', { seen: version }), LONG)
        assert.equal((await here.read('k', json)).kind, 'found')
      }))

    test('is described by its name, code and message, up to a reasonable length', () =>
      onStage(factory, async ({ here, there }) => {
        const awkward: readonly Failure[] = [
          { name: 'Error' },
          { name: '', code: '' },
          { name: 'Überläufer 🐄', code: '42P01' },
          { name: 'Error', message: 'no such table' },
          { name: 'Error', code: '42P01', message: 'no such table: 🐄' },
        ]
        for (const [index, told] of awkward.entries()) {
          const lease = await lead(here, `k${index}`)
          await here.release(lease, { kind: 'failed', failure: told, cooldown: LONG, attempts: 7 })
          const answer = await ask(there, `k${index}`)
          assert.ok(answer.kind === 'cooling', outcomeOf(answer))
          assert.deepEqual([answer.failure, answer.attempts], [told, 7])
        }
        const endless = { name: '€'.repeat(100_000), code: '\n'.repeat(100_000) }
        const lease = await lead(here, 'k')
        await here.release(lease, { kind: 'failed', failure: endless, cooldown: LONG, attempts: 1 })
        const answer = await ask(there, 'k')
        assert.ok(answer.kind === 'cooling' && answer.failure.name.startsWith('€€'), outcomeOf(answer))
        assert.ok(!answer.failure.name.includes('\uFFFD'), 'cut inside a character')
      }))
  })

  describe('an uncacheable result', () => {
    for (const share of [true, false])
      test(`lets every caller load alone for a while, and says that callers may ${share ? '' : 'not '}share it`, () =>
        onStage(factory, async ({ here, there, advance }) => {
          await here.release(await lead(here, 'k'), { kind: 'uncacheable', for: MEDIUM, share })
          const answer = await ask(there, 'k')
          assert.ok(answer.kind === 'uncacheable' && answer.share === share, JSON.stringify(answer))
          assert.ok(answer.remaining > 0 && answer.remaining <= MEDIUM, String(answer.remaining))
          await advance(MEDIUM)
          await lead(there, 'k')
        }))

    test('removes the entry that was there', () =>
      onStage(factory, async ({ here, there }) => {
        const { version } = await fill(here, 'k', 'old')
        const lease = await lead(here, 'k', { seen: version })
        await here.release(lease, { kind: 'uncacheable', for: LONG, share: true })
        await missing(there, 'k')
      }))

    test('for no time removes the entry that was there, and leaves no mark', () =>
      onStage(factory, async ({ here, there }) => {
        const { version } = await fill(here, 'k', 'old')
        const lease = await lead(here, 'k', { seen: version })
        await here.release(lease, { kind: 'uncacheable', for: 0, share: true })
        await missing(there, 'k')
        await lead(there, 'k')
      }))
  })
}
