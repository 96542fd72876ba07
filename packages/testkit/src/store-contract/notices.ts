import { strict as assert } from 'node:assert'
import { json, type Lease, type Notice, type Store } from '@cattlegrid/core'
import { ask, entryOf, lead, LONG, onStage, type Stage, type StoreContract } from './stage.ts'

/** What one watcher was told. */
interface Ear {
  readonly heard: Notice[]
  deafen(): void
}

function listen(store: Store): Ear {
  const heard: Notice[] = []
  return { heard, deafen: store.watch((notice) => void heard.push(notice)) }
}

const about = (notice: Notice, key: string): boolean => 'key' in notice && notice.key === key

/** So many keys that each node of a cluster has some: what is said at one node arrives in order, what is said at two does not. */
const PROBES = 32

/** No probe has the name of an earlier one, of which an ear may have heard already. */
let rounds = 0

/** Until `ears` have heard of something that was said after all that came before; looks again in real time, since pushes travel. */
async function caughtUp({ here }: Stage, ...ears: readonly Ear[]): Promise<void> {
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    rounds += 1
    const probes = Array.from({ length: PROBES }, (_, index) => `probe ${rounds} ${index}`)
    await Promise.all(probes.map((key) => here.invalidate(key, 'delete', 0)))
    for (let look = 0; look < 10; look += 1) {
      const heardAll = ({ heard }: Ear): boolean => probes.every((key) => heard.some((notice) => about(notice, key)))
      if (ears.every(heardAll)) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  assert.fail('a watcher heard nothing for 10 s')
}

/** What was heard of one key since the ear was ready. */
function kindsOf({ heard }: Ear, key: string): readonly string[] {
  return heard.filter((notice) => about(notice, key)).map(({ kind }) => kind)
}

const failed = { kind: 'failed', failure: { name: 'Error' }, cooldown: LONG, attempts: 1 } as const
const uncacheable = { kind: 'uncacheable', for: LONG, share: true } as const

/** How a lease ends that somebody waits for, and what the waiting one is told. */
const ENDINGS: readonly (readonly [string, string, (store: Store, lease: Lease) => Promise<unknown>])[] = [
  ['a commit', 'committed', (store, lease) => store.commit(lease, entryOf(1), json)],
  ['a hand-over', 'released', (store, lease) => store.release(lease, { kind: 'handover' })],
  ['a failure', 'released', (store, lease) => store.release(lease, failed)],
  ['an uncacheable result', 'released', (store, lease) => store.release(lease, uncacheable)],
]

/** What a watcher is told. */
export function describeNotices({ factory, describe, test }: StoreContract): void {
  describe('a watcher', () => {
    for (const [what, told, end] of ENDINGS)
      test(`that waits is told of ${what}`, () =>
        onStage(factory, async (stage) => {
          const ear = listen(stage.there)
          await caughtUp(stage, ear)
          const lease = await lead(stage.here, 'k')
          assert.equal((await ask(stage.there, 'k', { wake: true })).kind, 'held')
          await end(stage.here, lease)
          await caughtUp(stage, ear)
          assert.deepEqual(kindsOf(ear, 'k'), [told])
        }))

    test('is told of everything that changes a value behind a lease’s back', () =>
      onStage(factory, async (stage) => {
        const ears = [listen(stage.here), listen(stage.there)]
        await caughtUp(stage, ...ears)
        await stage.there.put('k', entryOf(1), json)
        await stage.there.invalidate('k', 'expire', 0)
        await stage.there.invalidate('k', 'delete', 0)
        await caughtUp(stage, ...ears)
        for (const ear of ears) assert.deepEqual(kindsOf(ear, 'k'), ['committed', 'expired', 'deleted'])
      }))

    test('is told which tags fell, and their number', () =>
      onStage(factory, async (stage) => {
        const ear = listen(stage.there)
        await caughtUp(stage, ear)
        const done = await stage.here.invalidateTags(['a b', '{}'])
        await caughtUp(stage, ear)
        const told = ear.heard.filter(({ kind }) => kind === 'tags')
        assert.deepEqual(told, [{ kind: 'tags', tags: ['a b', '{}'], tagSeq: done.kind === 'done' ? done.tagSeq : 0 }])
      }))

    test('is told that everything was cleared', () =>
      onStage(factory, async (stage) => {
        const ear = listen(stage.there)
        await caughtUp(stage, ear)
        await stage.here.clear()
        await caughtUp(stage, ear)
        assert.equal(ear.heard.filter(({ kind }) => kind === 'cleared').length, 1)
      }))

    test('is told the very key, whatever is in it', () =>
      onStage(factory, async (stage) => {
        const ear = listen(stage.there)
        await caughtUp(stage, ear)
        const keys = ['', ' a  b ', 'a\nb', '%7B', '{}', '\0', '🐄', '\uDC00\uD800', 'committed k']
        for (const key of keys) await stage.here.invalidate(key, 'delete', 0)
        await caughtUp(stage, ear)
        for (const key of keys) assert.deepEqual(kindsOf(ear, key), ['deleted'], JSON.stringify(key))
      }))

    test('hears nothing more once it has stopped watching', () =>
      onStage(factory, async (stage) => {
        const [gone, stays] = [listen(stage.there), listen(stage.there)]
        await caughtUp(stage, gone, stays)
        gone.deafen()
        const before = gone.heard.length
        await stage.here.put('k', entryOf(1), json)
        await caughtUp(stage, stays)
        assert.deepEqual([gone.heard.length, kindsOf(stays, 'k')], [before, ['committed']])
      }))
  })
}
