import { strict as assert } from 'node:assert'
import { json } from '@cattlegrid/core'
import { expiredVersion, NO_VERSION } from '@cattlegrid/core/extend'
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

const HOWS = ['delete', 'expire'] as const

/** Invalidation deletes an entry or makes it stale. */
export function describeInvalidation({ factory, describe, test }: StoreContract): void {
  describe('a deleted entry', () => {
    test('is gone in every process', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'k', 1, { staleWhileRevalidate: LONG })
        assert.deepEqual(await there.invalidate('k', 'delete', 0), { kind: 'done' })
        await missing(here, 'k')
      }))
  })

  describe('an expired entry', () => {
    test('is stale in every process, and no longer fresh by any clock', () =>
      onStage(factory, async ({ here, there, now }) => {
        const { version } = await fill(here, 'k', 'old', { staleWhileRevalidate: LONG, staleIfError: 10 })
        assert.deepEqual(await there.invalidate('k', 'expire', 0), { kind: 'done' })
        const entry = await found(here, 'k')
        assert.deepEqual([entry.value, entry.staleIfError, entry.expired], ['old', 10, true])
        assert.ok(entry.freshUntil <= now(), 'still fresh')
        assert.equal(entry.version, expiredVersion(version))
        assert.notEqual(entry.version, version)
      }))

    test('stays stale for its window and no longer', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await fill(here, 'k', 'old', { staleIfError: MEDIUM })
        await there.invalidate('k', 'expire', 0)
        await found(here, 'k')
        await advance(MEDIUM)
        await missing(here, 'k')
      }))

    test('is not given more time than it had left', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await fill(here, 'k', 'old', { ttl: SHORT, staleIfError: MEDIUM })
        await advance(0.6 * (SHORT + MEDIUM))
        await there.invalidate('k', 'expire', 0)
        await advance(0.6 * (SHORT + MEDIUM))
        await missing(here, 'k')
      }))

    test('that was expired once more is the same entry', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'k', 'old', { staleWhileRevalidate: LONG })
        await here.invalidate('k', 'expire', 0)
        const { version } = await found(here, 'k')
        await there.invalidate('k', 'expire', 0)
        await lead(here, 'k', { seen: version })
      }))

    test('is another one than an entry of the key that was expired before: who read that gets no lease', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'k', 'X', { staleWhileRevalidate: LONG })
        await there.invalidate('k', 'expire', 0)
        const seen = (await found(here, 'k')).version
        await there.invalidate('k', 'delete', 0)
        await there.put('k', entryOf('Y', { staleWhileRevalidate: LONG }), json)
        await there.invalidate('k', 'expire', 0)
        assert.equal(outcomeOf(await ask(here, 'k', { seen })), 'changed')
        assert.equal((await found(here, 'k')).value, 'Y')
      }))

    test('without a stale window is gone', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'k', 1)
        await there.invalidate('k', 'expire', 0)
        await missing(here, 'k')
      }))

    test('has changed for a caller that read it before, and can be refreshed by one that reads it now', () =>
      onStage(factory, async ({ here, there }) => {
        const before = await fill(here, 'k', 'old', { staleWhileRevalidate: LONG })
        await there.invalidate('k', 'expire', 0)
        assert.equal(outcomeOf(await ask(here, 'k', { seen: before.version })), 'changed')
        assert.equal(outcomeOf(await ask(here, 'k', { seen: NO_VERSION })), 'changed')
        const lease = await lead(here, 'k', { seen: (await found(here, 'k')).version })
        assert.equal(outcomeOf(await here.commit(lease, entryOf('new'), json)), 'stored')
        assert.equal((await found(there, 'k')).value, 'new')
      }))
  })

  for (const how of HOWS)
    describe(`an invalidation (${how})`, () => {
      test('voids a load that began before it', () =>
        onStage(factory, async ({ here, there }) => {
          const { version } = await fill(here, 'k', 'old', { staleIfError: LONG })
          const lease = await lead(here, 'k', { seen: version })
          await there.invalidate('k', how, 0)
          assert.equal(outcomeOf(await here.renew(lease, LONG)), 'refused: voided')
          assert.equal(outcomeOf(await here.commit(lease, entryOf('loaded before'), json)), 'refused: voided')
          const read = await here.read('k', json)
          assert.equal(read.kind === 'found' ? read.entry.value : read.kind, how === 'delete' ? 'missing' : 'old')
        }))

      test('lets the next caller load at once', () =>
        onStage(factory, async ({ here, there }) => {
          const late = await lead(here, 'k')
          await here.invalidate('k', how, 0)
          const lease = await lead(there, 'k')
          assert.equal(outcomeOf(await here.commit(late, entryOf('late'), json)), 'refused: taken')
          assert.equal(outcomeOf(await there.commit(lease, entryOf('new'), json)), 'stored')
        }))

      test('ends a cooldown and its count', () =>
        onStage(factory, async ({ here, there }) => {
          const ending = { kind: 'failed', failure: { name: 'Error' }, cooldown: LONG, attempts: 3 } as const
          await here.release(await lead(here, 'k'), ending)
          await there.invalidate('k', how, 0)
          assert.equal((await lead(here, 'k')).attempts, 0)
        }))

      test('ends an uncacheable mark', () =>
        onStage(factory, async ({ here, there }) => {
          await here.release(await lead(here, 'k'), { kind: 'uncacheable', for: LONG, share: true })
          await there.invalidate('k', how, 0)
          await lead(here, 'k')
        }))

      test('with a hold-off keeps every process from storing for a while', () =>
        onStage(factory, async ({ here, there, advance }) => {
          const lease = await lead(here, 'k')
          await there.invalidate('k', how, MEDIUM)
          assert.equal(outcomeOf(await here.commit(lease, entryOf(1), json)), 'refused: taken')
          const answer = await ask(here, 'k')
          assert.ok(answer.kind === 'held-off' && answer.remaining > 0, JSON.stringify(answer))
          await advance(MEDIUM)
          await lead(here, 'k')
        }))

      test('does not shorten a hold-off, and may lengthen it', () =>
        onStage(factory, async ({ here, there }) => {
          const remaining = async (): Promise<number> => {
            const answer = await ask(here, 'k')
            return answer.kind === 'held-off' ? answer.remaining : 0
          }
          await here.invalidate('k', 'delete', MEDIUM)
          await there.invalidate('k', how, LONG)
          for (const holdOff of [0, 1, MEDIUM]) {
            await there.invalidate('k', how, holdOff)
            assert.ok((await remaining()) > MEDIUM, `shortened by a hold-off of ${holdOff} ms`)
          }
        }))

      test('of a missing key succeeds', () =>
        onStage(factory, async ({ here }) => {
          assert.deepEqual(await here.invalidate('nothing', how, 0), { kind: 'done' })
          await missing(here, 'nothing')
        }))
    })
}
