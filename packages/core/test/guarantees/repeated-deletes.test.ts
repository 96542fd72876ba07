import { describe, expect, it } from '@jest/globals'
import { countRequests, createFleet, type Fleet, holdBack, Origin, settle, trace } from '../support/fleet.ts'

/** A third process gets the lease, and never loads. */
async function hold(fleet: Fleet): Promise<void> {
  await fleet.store.acquire('k', { duration: 5000, seen: '', wake: false })
}

describe('a key that another process deletes again and again while a third one loads it', () => {
  it('costs each process that waits for it as much at the last delete as at the first', async () => {
    const fleet = createFleet()
    const [waiting, deleting] = fleet.caches
    const requests = countRequests(fleet)
    const costs: number[] = []
    await hold(fleet)
    for (let at = 0; at < 20; at += 1) {
      const before = requests.count
      void waiting.getOrSet('k', new Origin().loader).catch(() => undefined)
      await settle(fleet)
      // Here nobody gets the lease before the third process has it again.
      const { invalidate } = fleet.store
      fleet.store.invalidate = async (...args) => {
        const answer = invalidate.apply(fleet.store, args)
        await hold(fleet)
        return await answer
      }
      await deleting.delete('k')
      fleet.store.invalidate = invalidate
      await settle(fleet)
      costs.push(requests.count - before)
    }
    expect(costs.at(-1)).toBeLessThanOrEqual(costs[1] ?? 0)
  })

  it('is waited for by one flight of a process, also if each one asked for the lease before the delete', async () => {
    const fleet = createFleet()
    const [waiting, deleting] = fleet.caches
    await hold(fleet)
    const follows = trace(waiting, 'follow')
    const { letGo } = holdBack(fleet, 'acquire')
    void waiting.getOrSet('k', new Origin().loader).catch(() => undefined)
    await settle(fleet)
    await deleting.delete('k')
    await hold(fleet)
    void waiting.getOrSet('k', new Origin().loader).catch(() => undefined)
    await settle(fleet)
    letGo()
    await settle(fleet)
    expect(follows).toEqual(['follow'])
  })
})
