import { strict as assert } from 'node:assert'
import { json, type Store } from '@cattlegrid/core'
import {
  ask,
  entryOf,
  fill,
  found,
  lead,
  LONG,
  missing,
  onStage,
  readStanding,
  type StoreContract,
  outcomeOf,
} from './stage.ts'

async function fall(store: Store, ...tags: readonly string[]): Promise<number> {
  const answer = await store.invalidateTags(tags, 'delete')
  assert.ok(answer.kind === 'done', answer.kind)
  return answer.tagSeq
}

/** Invalidating a tag invalidates every entry that carries it. */
export function describeTags({ factory, describe, test }: StoreContract): void {
  describe('an invalidated tag', () => {
    test('makes every entry that carries it unusable, and no other', () =>
      onStage(factory, async ({ here, there, now }) => {
        await fill(here, 'a', 1, { tags: ['user:7', 'list'] })
        await fill(here, 'b', 2, { tags: ['list'], staleIfError: LONG })
        await fill(here, 'c', 3, { tags: ['user:8'] })
        await fill(here, 'd', 4)
        await fall(there, 'list')
        await Promise.all([missing(here, 'a'), missing(here, 'b')])
        assert.deepEqual([here.peek('a', json, now()), here.peek('b', json, now())], [undefined, undefined])
        assert.deepEqual([(await found(here, 'c')).value, (await found(here, 'd')).value], [3, 4])
      }))

    test('ends nothing else where no entry carries it, however many such tags are invalidated', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'k', 1, { tags: ['url:/page'] })
        for (let batch = 0; batch < 22; batch += 1)
          await fall(there, ...Array.from({ length: 1000 }, (_, index) => `url:/search?i=${batch * 1000 + index}`))
        assert.equal((await found(here, 'k')).value, 1)
        await fall(there, 'url:/page')
        await missing(here, 'k')
      }))

    test('lets its keys be loaded again', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'k', 'old', { tags: ['t'] })
        await fall(there, 't')
        const read = await readStanding(here, 'k')
        assert.ok(read.kind === 'missing')
        const lease = await lead(here, 'k', { seen: read.version })
        assert.equal(outcomeOf(await here.commit(lease, entryOf('new', { tags: ['t'] }), json)), 'stored')
        assert.equal((await found(there, 'k')).value, 'new')
      }))

    test('refuses a load that began before, however late it names the tag, and frees the key', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'other', 0, { tags: ['known'] })
        for (const tag of ['known', 'never seen']) {
          const lease = await lead(here, 'k')
          await fall(there, tag)
          const answer = await here.commit(lease, entryOf('before', { tags: ['harmless', tag] }), json)
          assert.equal(outcomeOf(answer), 'refused: tag-voided', tag)
          await missing(here, 'k')
        }
        await lead(there, 'k')
      }))

    test('accepts a load that begins after', () =>
      onStage(factory, async ({ here, there }) => {
        await fall(there, 't', 'u')
        const lease = await lead(here, 'k')
        assert.equal(outcomeOf(await here.commit(lease, entryOf(1, { tags: ['t', 'u', 'v'] }), json)), 'stored')
        await found(there, 'k')
      }))

    test('accepts a load that does not carry it', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'other', 0, { tags: ['mine'] })
        const lease = await lead(here, 'k')
        await fall(there, 'other')
        assert.equal(outcomeOf(await here.commit(lease, entryOf(1, { tags: ['mine'] }), json)), 'stored')
        await found(there, 'k')
      }))

    test('gets a greater number every time', () =>
      onStage(factory, async ({ here, there }) => {
        const numbers = [await fall(here, 't'), await fall(there, 'u'), await fall(here, 't', 'u')]
        assert.deepEqual(
          numbers,
          numbers.toSorted((one, other) => one - other),
        )
        assert.equal(new Set(numbers).size, 3)
      }))

    test('makes earlier puts that carry it unusable, and no later ones', () =>
      onStage(factory, async ({ here, there }) => {
        await here.put('k', entryOf('old', { tags: ['t'] }), json)
        await found(there, 'k')
        await fall(there, 't')
        await missing(here, 'k')
        await here.put('k', entryOf('new', { tags: ['t'] }), json)
        assert.equal((await found(there, 'k')).value, 'new')
      }))

    test('may have any name', () =>
      onStage(factory, async ({ here, there }) => {
        const names = ['', ' ', '{}', '%', 'a b', 'a\nb', '\0', '🐄', '\uD800', '__proto__', '"', 'x'.repeat(8192)]
        for (const [index, name] of names.entries()) await fill(here, `k${index}`, name, { tags: [name] })
        for (const [index, name] of names.entries()) {
          await fall(there, name)
          await missing(here, `k${index}`)
          for (let rest = index + 1; rest < names.length; rest += 1) await found(there, `k${rest}`)
        }
      }))

    test('does not affect a key that is cooling down', () =>
      onStage(factory, async ({ here, there }) => {
        const ending = { kind: 'failed', failure: { name: 'Error' }, cooldown: LONG, attempts: 1 } as const
        await here.release(await lead(here, 'k'), ending)
        await fall(there, 't')
        assert.equal(outcomeOf(await ask(there, 'k')), 'cooling')
      }))
  })
}
