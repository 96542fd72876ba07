import { describe, expect, it } from '@jest/globals'
import { Origin } from '../support/fleet.ts'
import { Remote } from '../support/remote.ts'

const KEYS = Array.from({ length: 100 }, (_, index) => `k${index}`)

describe('an invalidation of tags', () => {
  it('wakes nobody who waits for a lease: however many there are, the store is asked no more often', async () => {
    const asked = async (invalidations: number): Promise<readonly number[]> => {
      const remote = new Remote()
      const [leading, waiting] = [remote.join({ maxLoads: false }), remote.join({ maxLoads: false })]
      await remote.runtime.advance(0)
      const origin = new Origin()
      const loads = KEYS.map((key) => leading.getOrSet(key, origin.loader))
      await remote.runtime.advance(10)
      const calls = KEYS.map((key) => waiting.getOrSet(key, origin.loader))
      await remote.runtime.advance(10)
      for (let count = 0; count < invalidations; count += 1) {
        remote.tell({ kind: 'tags', tags: [`tag:${count}`], tagSeq: count + 1, how: 'delete' })
        await remote.runtime.advance(1)
      }
      await remote.runtime.advance(200 - invalidations)
      const steps = [remote.count('read'), remote.count('acquire'), remote.count('tagNumbers')]
      expect(origin.count).toBe(KEYS.length)
      for (const { resolve } of origin.loads) resolve('loaded')
      await remote.runtime.advance(10)
      expect(new Set(await Promise.all([...loads, ...calls]))).toEqual(new Set(['loaded']))
      return steps
    }
    expect(await asked(100)).toEqual(await asked(0))
  })
})
