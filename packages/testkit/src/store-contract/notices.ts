import { strict as assert } from 'node:assert'
import { json, type Store } from '@cattlegrid/core'
import type { Lease, Notice } from '@cattlegrid/core/extend'
import { ask, entryOf, fill, lead, LONG, onStage, type Stage, type StoreContract } from './stage.ts'

/** A watcher and the notices that it has received. */
interface Watcher {
  readonly store: Store
  readonly notices: Notice[]
  stopWatching(): void
}

function listen(store: Store): Watcher {
  const notices: Notice[] = []
  return { store, notices, stopWatching: store.watch((notice) => void notices.push(notice)) }
}

const about = (notice: Notice, key: string): boolean => 'key' in notice && notice.key === key

/**
 * Enough keys for every node of a cluster to have some: notices of one node arrive in order, notices of two
 * nodes may not.
 */
const PROBES = 32

/** Makes every probe's key new: a watcher may already have a notice of an earlier one. */
let rounds = 0

/**
 * Waits until every watcher's store receives notices about the keys: one that subscribes by parts does so
 * when a key is read.
 */
async function subscribed(keys: readonly string[], watchers: readonly Watcher[]): Promise<void> {
  await Promise.all(watchers.flatMap(({ store }) => keys.map((key) => store.read(key, json))))
  const receives = (store: Store, key: string): boolean => store.partOf?.('entry', key).receivesNotices(key) !== false
  const receivesAll = ({ store }: Watcher): boolean => keys.every((key) => receives(store, key))
  for (let look = 0; look < 2000 && !watchers.every(receivesAll); look += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
}

/**
 * Waits until every watcher has received the notices that were sent before this call. Polls in real time,
 * because notices cross a network.
 */
async function caughtUp({ here }: Stage, ...watchers: readonly Watcher[]): Promise<void> {
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    rounds += 1
    const probes = Array.from({ length: PROBES }, (_, index) => `probe ${rounds} ${index}`)
    await subscribed(['k', ...probes], watchers)
    await Promise.all(probes.map((key) => here.invalidate(key, 'delete', 0)))
    const tag = `probe ${rounds}`
    await here.invalidateTags([tag], 'delete')
    for (let look = 0; look < 10; look += 1) {
      const hasAll = ({ notices }: Watcher): boolean =>
        probes.every((key) => notices.some((notice) => about(notice, key))) &&
        notices.some((notice) => notice.kind === 'tags' && notice.tags.includes(tag))
      if (watchers.every(hasAll)) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  assert.fail('a watcher received no notice for 10 s')
}

/** The kinds of the notices about one key, in the order of their arrival. */
function kindsOf({ notices }: Watcher, key: string): readonly string[] {
  return notices.filter((notice) => about(notice, key)).map(({ kind }) => kind)
}

const failed = { kind: 'failed', failure: { name: 'Error' }, cooldown: LONG, attempts: 1 } as const
const uncacheable = { kind: 'uncacheable', for: LONG, share: true } as const

/** The ways to end a lease that a follower waits for, and the notice that the follower receives. */
const ENDINGS: readonly (readonly [string, string, (store: Store, lease: Lease) => Promise<unknown>])[] = [
  ['a commit', 'committed', (store, lease) => store.commit(lease, entryOf(1), json)],
  ['a hand-over', 'released', (store, lease) => store.release(lease, { kind: 'handover' })],
  ['a failure', 'released', (store, lease) => store.release(lease, failed)],
  ['an uncacheable result', 'released', (store, lease) => store.release(lease, uncacheable)],
]

/** The notices that a watcher receives. */
export function describeNotices({ factory, describe, test }: StoreContract): void {
  describe('a watcher', () => {
    for (const [what, told, end] of ENDINGS)
      test(`that waits gets a notice of ${what}`, () =>
        onStage(factory, async (stage) => {
          const watcher = listen(stage.there)
          await caughtUp(stage, watcher)
          const lease = await lead(stage.here, 'k')
          assert.equal((await ask(stage.there, 'k', { wake: true })).kind, 'held')
          await end(stage.here, lease)
          await caughtUp(stage, watcher)
          assert.deepEqual(kindsOf(watcher, 'k'), [told])
        }))

    test('gets a notice of a commit that replaces a fresh entry, although nobody waits', () =>
      onStage(factory, async (stage) => {
        const watcher = listen(stage.there)
        await caughtUp(stage, watcher)
        const { version } = await fill(stage.here, 'k', 'old')
        const lease = await lead(stage.here, 'k', { seen: version })
        assert.equal((await stage.here.commit(lease, entryOf('new'), json)).kind, 'stored')
        await caughtUp(stage, watcher)
        assert.deepEqual(kindsOf(watcher, 'k'), ['committed'])
      }))

    test('gets a notice of an uncacheable result that removes a fresh entry, although nobody waits', () =>
      onStage(factory, async (stage) => {
        const watcher = listen(stage.there)
        await caughtUp(stage, watcher)
        const { version } = await fill(stage.here, 'k', 'old')
        await stage.here.release(await lead(stage.here, 'k', { seen: version }), uncacheable)
        await caughtUp(stage, watcher)
        assert.deepEqual(kindsOf(watcher, 'k'), ['released'])
      }))

    test('of a shared store is told that it is connected, also if another one was told before', () =>
      onStage(factory, async (stage) => {
        if (!stage.here.shared) return
        for (const watcher of [listen(stage.here), listen(stage.here)]) {
          await caughtUp(stage, watcher)
          assert.deepEqual(watcher.notices.filter(({ kind }) => kind === 'connected').length, 1)
        }
      }))

    test('gets a notice of every change that needs no lease', () =>
      onStage(factory, async (stage) => {
        const watchers = [listen(stage.here), listen(stage.there)]
        await caughtUp(stage, ...watchers)
        await stage.there.put('k', entryOf(1), json)
        await stage.there.invalidate('k', 'expire', 0)
        await stage.there.invalidate('k', 'delete', 0)
        await caughtUp(stage, ...watchers)
        for (const watcher of watchers) assert.deepEqual(kindsOf(watcher, 'k'), ['committed', 'expired', 'deleted'])
      }))

    for (const [name, how, deleteAfter, told = how] of [
      ['an invalidation', 'delete', undefined],
      ['an expiry', 'expire', undefined],
      ['an expiry with an end, as of an invalidation', 'expire', LONG, 'delete'],
    ] as const)
      test(`gets the tags of ${name}, and their number`, () =>
        onStage(factory, async (stage) => {
          const watcher = listen(stage.there)
          await caughtUp(stage, watcher)
          const done = await stage.here.invalidateTags(['a b', '{}'], how, deleteAfter)
          await caughtUp(stage, watcher)
          const heard = watcher.notices.filter(
            (notice) => notice.kind === 'tags' && !notice.tags[0]?.startsWith('probe '),
          )
          const tagSeq = done.kind === 'done' ? done.tagSeq : 0
          assert.deepEqual(heard, [{ kind: 'tags', tags: ['a b', '{}'], tagSeq, how: told }])
        }))

    test('gets a notice of a clear', () =>
      onStage(factory, async (stage) => {
        const watcher = listen(stage.there)
        await caughtUp(stage, watcher)
        await stage.here.clear()
        await caughtUp(stage, watcher)
        assert.equal(watcher.notices.filter(({ kind }) => kind === 'cleared').length, 1)
      }))

    test('gets the exact key, whatever characters it has', () =>
      onStage(factory, async (stage) => {
        const watcher = listen(stage.there)
        await caughtUp(stage, watcher)
        const keys = ['', ' a  b ', 'a\nb', '%7B', '{}', '\0', '🐄', '\uDC00\uD800', 'committed k']
        await subscribed(keys, [watcher])
        for (const key of keys) await stage.here.invalidate(key, 'delete', 0)
        await caughtUp(stage, watcher)
        for (const key of keys) assert.deepEqual(kindsOf(watcher, key), ['deleted'], JSON.stringify(key))
      }))

    test('gets no notice after it has stopped watching', () =>
      onStage(factory, async (stage) => {
        const [gone, stays] = [listen(stage.there), listen(stage.there)]
        await caughtUp(stage, gone, stays)
        gone.stopWatching()
        const before = gone.notices.length
        await stage.here.put('k', entryOf(1), json)
        await caughtUp(stage, stays)
        assert.deepEqual([gone.notices.length, kindsOf(stays, 'k')], [before, ['committed']])
      }))
  })
}
