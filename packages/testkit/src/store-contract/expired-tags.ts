import { strict as assert } from 'node:assert'
import { json, type Store } from '@cattlegrid/core'
import {
  ask,
  commit,
  entryOf,
  fill,
  found,
  lead,
  LONG,
  MEDIUM,
  missing,
  onStage,
  outcomeOf,
  SHORT,
  type StoreContract,
} from './stage.ts'

async function expire(store: Store, ...tags: readonly string[]): Promise<number> {
  const answer = await store.invalidateTags(tags, 'expire')
  assert.ok(answer.kind === 'done', answer.kind)
  return answer.tagSeq
}

const stale = { staleWhileRevalidate: LONG }

/** Expiring a tag makes every entry stale that carries it. */
export function describeExpiredTags({ factory, describe, test }: StoreContract): void {
  describe('an expired tag', () => {
    test('makes every entry stale that carries it, and no other', () =>
      onStage(factory, async ({ here, there, now }) => {
        const before = await fill(here, 'a', 1, { tags: ['user:7', 'list'], ...stale })
        await fill(here, 'b', 2, { tags: ['user:8'], ...stale })
        await expire(there, 'list')
        const entry = await found(here, 'a')
        assert.deepEqual([entry.value, entry.expired, entry.version], [1, true, before.version])
        assert.ok(entry.freshUntil <= now(), 'still fresh')
        assert.equal((await found(here, 'b')).expired, false)
        const peeked = here.peek('a', json, now())
        assert.ok(peeked === undefined || peeked.expired, 'a fresh entry in memory')
      }))

    test('leaves an entry without a stale window unusable', () =>
      onStage(factory, async ({ here, there, now }) => {
        await fill(here, 'k', 1, { tags: ['t'] })
        await expire(there, 't')
        const read = await here.read('k', json)
        if (read.kind === 'found') assert.ok((await found(here, 'k')).freshUntil <= now())
      }))

    test('opens the stale windows at that moment, and a later one of another tag does not open them again', () =>
      onStage(factory, async ({ here, there, advance, now }) => {
        await fill(here, 'k', 1, { tags: ['t', 'u'], staleIfError: LONG })
        await advance(SHORT)
        const earliest = now()
        await expire(there, 't')
        const latest = now()
        await advance(SHORT)
        await expire(there, 'u')
        const { freshUntil } = await found(here, 'k')
        // A store may round down, and may count from the moment at which a command was sent.
        assert.ok(freshUntil >= earliest - SHORT / 2 && freshUntil <= latest, `${earliest} ${freshUntil} ${latest}`)
      }))

    test('does not prolong an entry that was stale before', () =>
      onStage(factory, async ({ here, there, advance }) => {
        const { freshUntil } = await fill(here, 'k', 1, { ttl: SHORT, tags: ['t'], staleIfError: MEDIUM })
        await advance(2 * SHORT)
        await expire(there, 't')
        // The clock of a store has a grain of its own.
        assert.ok(Math.abs((await found(here, 'k')).freshUntil - freshUntil) < SHORT)
        await advance(MEDIUM)
        await missing(here, 'k')
      }))

    test('lets one caller refresh each of its keys, and later entries are fresh', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'k', 'old', { tags: ['t'], ...stale })
        await expire(there, 't')
        const { version } = await found(here, 'k')
        const lease = await lead(here, 'k', { seen: version })
        assert.equal(outcomeOf(await ask(there, 'k', { seen: version })), 'held')
        assert.equal(outcomeOf(await here.commit(lease, entryOf('new', { tags: ['t'] }), json)), 'stored')
        const { value, expired } = await found(there, 'k')
        assert.deepEqual([value, expired], ['new', false])
        assert.equal(outcomeOf(await ask(there, 'k', { seen: version })), 'changed')
      }))

    test('accepts a load that began before, and its entry is stale at once', () =>
      onStage(factory, async ({ here, there, advance, now }) => {
        await fill(here, 'other', 0, { tags: ['t'] })
        const lease = await lead(here, 'k')
        await expire(there, 't')
        await advance(SHORT)
        assert.equal(outcomeOf(await here.commit(lease, entryOf('old', { tags: ['t'], ...stale }), json)), 'stored')
        const entry = await found(there, 'k')
        assert.deepEqual([entry.value, entry.expired], ['old', true])
        assert.ok(
          entry.freshUntil >= entry.committedAt && entry.freshUntil <= now(),
          'its windows begin before its commit',
        )
      }))

    test('accepts a load that begins after, and its entry is fresh', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'other', 0, { tags: ['t'] })
        await expire(there, 't', 'never seen')
        await commit(here, 'k', 1, { tags: ['t', 'never seen'] })
        assert.equal((await found(there, 'k')).expired, false)
      }))

    test('makes earlier puts stale that carry it, and no later ones', () =>
      onStage(factory, async ({ here, there }) => {
        await here.put('k', entryOf('old', { tags: ['t'], ...stale }), json)
        await expire(there, 't')
        assert.equal((await found(here, 'k')).expired, true)
        await here.put('k', entryOf('new', { tags: ['t'], ...stale }), json)
        assert.equal((await found(here, 'k')).expired, false)
      }))

    test('that is invalidated before or after leaves no entry of it', () =>
      onStage(factory, async ({ here, there }) => {
        for (const hows of [['expire', 'delete'] as const, ['delete', 'expire'] as const]) {
          await fill(here, hows[0], 1, { tags: ['t'], ...stale })
          for (const how of hows) await there.invalidateTags(['t'], how)
          await missing(here, hows[0])
        }
      }))

    test('gets a greater number every time', () =>
      onStage(factory, async ({ here, there }) => {
        const first = await expire(here, 't')
        const second = await there.invalidateTags(['u'], 'delete')
        assert.ok(second.kind === 'done' && second.tagSeq > first)
        assert.ok((await expire(here, 't')) > second.tagSeq)
      }))

    test('ends no lease and no cooldown', () =>
      onStage(factory, async ({ here, there }) => {
        const ending = { kind: 'failed', failure: { name: 'Error' }, cooldown: LONG, attempts: 1 } as const
        await here.release(await lead(here, 'cooling'), ending)
        const lease = await lead(here, 'led')
        await expire(there, 't')
        assert.equal(outcomeOf(await ask(there, 'cooling')), 'cooling')
        assert.equal(outcomeOf(await here.renew(lease, LONG)), 'renewed')
      }))
  })
}
