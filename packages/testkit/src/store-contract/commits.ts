import { strict as assert } from 'node:assert'
import { json } from '@cattlegrid/core'
import { commit, entryOf, fill, found, lead, missing, onStage, SHORT, type StoreContract, outcomeOf } from './stage.ts'

/** A store may send these numbers as whole milliseconds. */
function close(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= 1, `${what}: ${actual}, expected ${expected}`)
}

/** The entry that a commit writes, as a read returns it. */
export function describeCommits({ factory, describe, test }: StoreContract): void {
  describe('a commit', () => {
    test('is read by every process, with the version that it returned', () =>
      onStage(factory, async ({ here, there }) => {
        const answer = await here.commit(await lead(here, 'k'), entryOf({ price: 3 }), json)
        const entry = await found(there, 'k')
        assert.deepEqual(entry.value, { price: 3 })
        assert.deepEqual(answer, { kind: 'stored', version: entry.version })
      }))

    test('gives the lease back', () =>
      onStage(factory, async ({ here, there }) => {
        const lease = await lead(here, 'k')
        await here.commit(lease, entryOf(1), json)
        assert.equal(outcomeOf(await here.commit(lease, entryOf(2), json)), 'refused: voided')
        assert.equal((await found(there, 'k')).value, 1)
        await lead(there, 'k', { seen: (await found(there, 'k')).version })
      }))

    test('replaces the entry before it, under a version of its own', () =>
      onStage(factory, async ({ here, there }) => {
        const first = await fill(here, 'k', 'first')
        const lease = await lead(there, 'k', { seen: first.version })
        assert.equal((await found(here, 'k')).value, 'first')
        await there.commit(lease, entryOf('second'), json)
        const second = await found(here, 'k')
        assert.equal(second.value, 'second')
        assert.notEqual(second.version, first.version)
      }))

    test('keeps the windows and the load time', () =>
      onStage(factory, async ({ here, now }) => {
        const before = now()
        const windows = { ttl: 30_000, staleWhileRevalidate: 10_000, staleIfError: 20_000, loadTime: 42 }
        const entry = await fill(here, 'k', 1, windows)
        close(entry.freshUntil - entry.committedAt, 30_000, 'ttl')
        close(entry.staleWhileRevalidate, 10_000, 'staleWhileRevalidate')
        close(entry.staleIfError, 20_000, 'staleIfError')
        close(entry.loadTime, 42, 'load time')
        // An entry may look older than it is by the duration of the read, so that nothing stays fresh for
        // too long.
        const earliest = before - (now() - before) - 2
        assert.ok(
          entry.committedAt >= earliest && entry.committedAt <= now(),
          `committed at ${entry.committedAt}, expected after ${earliest}`,
        )
        assert.ok(entry.freshUntil > now())
      }))

    test('accepts fractions of a millisecond, as jitter produces them', () =>
      onStage(factory, async ({ here }) => {
        const entry = await fill(here, 'k', 1, { ttl: 29_999.7, staleIfError: 100.2, loadTime: 0.3 })
        close(entry.freshUntil - entry.committedAt, 29_999.7, 'ttl')
        await commit(here, 'soon gone', 1, { ttl: 0.4 })
      }))

    test('is stale after its ttl, for as long as its longer window', () =>
      onStage(factory, async ({ here, there, advance, now }) => {
        const { version } = await fill(here, 'k', 1, { ttl: SHORT, staleWhileRevalidate: 5, staleIfError: 50_000 })
        await advance(SHORT)
        const entry = await found(there, 'k')
        assert.ok(entry.freshUntil <= now(), 'still fresh')
        assert.equal(entry.version, version)
      }))

    test('is gone when ttl and windows are over, for reads and for acquires', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await commit(here, 'k', 1, { ttl: SHORT, staleWhileRevalidate: SHORT })
        await advance(2 * SHORT)
        await missing(there, 'k')
        await lead(there, 'k')
      }))

    test('is peeked at as it is read, where the store has a copy in the process', () =>
      onStage(factory, async ({ here, now }) => {
        const read = await fill(here, 'k', 'new')
        const peeked = here.peek('k', json, now())
        if (peeked !== undefined) assert.deepEqual([peeked.value, peeked.version], [read.value, read.version])
        await here.invalidate('k', 'delete', 0)
        assert.equal(here.peek('k', json, now()), undefined)
      }))

    test('leaves the stale entry in place while the next load runs', () =>
      onStage(factory, async ({ here, there, advance }) => {
        const { version } = await fill(here, 'k', 'old', { ttl: SHORT, staleWhileRevalidate: 50_000 })
        await advance(SHORT)
        await lead(here, 'k', { seen: version })
        assert.equal((await found(there, 'k')).value, 'old')
      }))
  })
}
