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
  readStanding,
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
  describeEnd({ factory, describe, test })
}

/** Expires a tag with an end. */
async function expireUntil(store: Store, deleteAfter: number, ...tags: readonly string[]): Promise<void> {
  assert.equal(outcomeOf(await store.invalidateTags(tags, 'expire', deleteAfter)), 'done')
}

/** There is no entry, or none that could be served. */
async function unusable(store: Store, key: string, now: number): Promise<void> {
  const read = await readStanding(store, key)
  if (read.kind === 'missing') return
  assert.ok(read.kind === 'found', read.kind)
  const { freshUntil, staleWhileRevalidate, staleIfError } = read.entry
  assert.ok(freshUntil + Math.max(staleWhileRevalidate, staleIfError) <= now, `${key} can be served`)
}

function describeEnd({ factory, describe, test }: StoreContract): void {
  describe('an expired tag with an end', () => {
    test('leaves its entries stale until then, and unusable from then on', () =>
      onStage(factory, async ({ here, there, advance, now }) => {
        await fill(here, 'k', 1, { tags: ['t'], staleWhileRevalidate: LONG, staleIfError: LONG })
        await expireUntil(there, MEDIUM, 't')
        for (const store of [here, there]) assert.equal((await found(store, 'k')).expired, true)
        await advance(MEDIUM + SHORT)
        for (const store of [here, there]) await unusable(store, 'k', now())
      }))

    test('keeps the earliest end, whichever expiry is the last one', () =>
      onStage(factory, async ({ here, there, advance, now }) => {
        for (const [key, ...ends] of [
          ['later', MEDIUM, LONG],
          ['none', MEDIUM, undefined],
          ['earlier', LONG, MEDIUM],
        ] as const) {
          await fill(here, key, 1, { tags: [key], ...stale })
          for (const end of ends) await there.invalidateTags([key], 'expire', end)
          assert.equal((await found(here, key)).expired, true)
        }
        await advance(MEDIUM + SHORT)
        for (const key of ['later', 'none', 'earlier']) await unusable(here, key, now())
      }))

    test('brings nothing back by an expiry that follows its end', () =>
      onStage(factory, async ({ here, there, advance, now }) => {
        await fill(here, 'k', 1, { tags: ['t'], ...stale })
        await expireUntil(there, SHORT, 't')
        await advance(2 * SHORT)
        await expire(there, 't')
        await unusable(here, 'k', now())
      }))

    test('counts for the entry of a load that began before, whenever it is committed', () =>
      onStage(factory, async ({ here, there, advance, now }) => {
        await fill(here, 'other', 0, { tags: ['t'] })
        const [early, late] = [await lead(here, 'early'), await lead(here, 'late')]
        await expireUntil(there, MEDIUM, 't')
        await here.commit(early, entryOf('old', { tags: ['t'], ...stale }), json)
        assert.equal((await found(there, 'early')).expired, true)
        await advance(MEDIUM + SHORT)
        await here.commit(late, entryOf('old', { tags: ['t'], ...stale }), json)
        for (const key of ['early', 'late']) await unusable(there, key, now())
      }))

    test('leaves entries of later loads as they are', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await fill(here, 'other', 0, { tags: ['t'] })
        await expireUntil(there, SHORT, 't')
        await commit(here, 'k', 1, { tags: ['t'], ttl: LONG })
        await advance(2 * SHORT)
        assert.equal((await found(there, 'k')).expired, false)
      }))

    test('does not end the entries of later loads when the tag is expired once more', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await fill(here, 'other', 0, { tags: ['t'] })
        await expireUntil(there, SHORT, 't')
        await commit(here, 'k', 1, { tags: ['t'], ttl: LONG, ...stale })
        await advance(2 * SHORT)
        await expire(there, 't')
        const entry = await found(here, 'k')
        assert.deepEqual([entry.expired, entry.staleWhileRevalidate], [true, LONG])
      }))

    test('is forgotten where the tag is invalidated', () =>
      onStage(factory, async ({ here, there, advance }) => {
        await fill(here, 'other', 0, { tags: ['t'] })
        await expireUntil(there, SHORT, 't')
        await there.invalidateTags(['t'], 'delete')
        await commit(here, 'k', 1, { tags: ['t'], ttl: LONG, ...stale })
        await expire(there, 't')
        await advance(2 * SHORT)
        assert.equal((await found(there, 'k')).expired, true)
      }))
  })
}
