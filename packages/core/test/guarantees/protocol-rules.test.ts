import { describe, expect, it } from '@jest/globals'
import { createFleet, type Fleet, Origin, settle, trace } from '../support/fleet.ts'

type Step = 'invalidate' | 'put' | 'invalidateTags' | 'clear'

const verbs: readonly (readonly [string, Step, (fleet: Fleet) => Promise<unknown>])[] = [
  ['delete', 'invalidate', ({ caches }) => caches[0].delete('k')],
  ['expire', 'invalidate', ({ caches }) => caches[0].expire('k')],
  ['set', 'put', ({ caches }) => caches[0].set('k', 'written')],
  ['invalidateTags', 'invalidateTags', ({ caches }) => caches[0].invalidateTags(['t'])],
  ['expireTags', 'invalidateTags', ({ caches }) => caches[0].expireTags(['t'])],
  ['clear', 'clear', ({ caches }) => caches[0].clear()],
]

/** A store that tells nobody anything, and executes this step only when the test says so. */
function held(step: Step): { readonly fleet: Fleet; readonly execute: () => void } {
  const fleet = createFleet()
  fleet.muted = true
  const execute: (() => void)[] = []
  const real = fleet.store[step].bind(fleet.store) as (...args: readonly unknown[]) => Promise<unknown>
  const slow = async (...args: readonly unknown[]): Promise<unknown> => {
    await new Promise<void>((resolve) => execute.push(resolve))
    return await real(...args)
  }
  Object.assign(fleet.store, { [step]: slow })
  return { fleet, execute: () => execute.shift()?.() }
}

// 1 delete is called      2 a load begins, and reads the old value      3 the store executes the delete, and says so
// 4 a call that comes now must not join that load: to let go at 1 only would be too early
describe('an invalidation', () => {
  // What was set is fresh: nobody who comes after it looks for a load to join.
  it.each(verbs.filter(([verb]) => verb !== 'set'))(
    'by %s lets go of a load that began between its call and its answer',
    async (_, step, invalidate) => {
      const { fleet, execute } = held(step)
      const [cache] = fleet.caches
      const joins = trace(cache, 'join')
      const invalidation = invalidate(fleet)
      await settle(fleet)
      const old = new Origin()
      const before = cache.getOrSet('k', old.loader)
      await settle(fleet)
      execute()
      await invalidation
      const after = cache.getOrSet('k', () => 'new')
      await settle(fleet)
      old.last.resolve('old')
      await fleet.runtime.advance(6000)
      await Promise.all([before, after])
      expect(joins).toEqual([])
    },
  )

  it.each(verbs)('by %s detaches a read that began between its call and its answer', async (_, step, invalidate) => {
    const { fleet, execute } = held(step)
    const [cache] = fleet.caches
    const reads: (() => void)[] = []
    const { read } = fleet.store
    fleet.store.peek = () => undefined
    fleet.store.read = async (...args) => {
      const answer = await read.apply(fleet.store, args)
      await new Promise<void>((resolve) => reads.push(resolve))
      return answer
    }
    const invalidation = invalidate(fleet)
    await settle(fleet)
    const before = cache.get('k')
    await settle(fleet)
    execute()
    await invalidation
    const after = cache.get('k')
    await settle(fleet)
    expect(reads).toHaveLength(2)
    for (const letGo of reads) letGo()
    await Promise.all([before, after])
  })
})

describe('a read', () => {
  it('is joined until its answer, and by no later call', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    fleet.muted = true
    fleet.store.peek = () => undefined
    await cache.set('k', 'first')
    expect(await cache.get('k')).toBe('first')
    await other.set('k', 'second')
    expect(await cache.get('k')).toBe('second')
  })
})
