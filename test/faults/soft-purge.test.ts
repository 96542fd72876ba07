import { afterEach, describe, expect, it } from '@jest/globals'
import { ask, Fleet, type FleetOptions, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'

let fleet: Fleet

afterEach(() => fleet.stop())

const options = { tags: ['t'], staleWhileRevalidate: '10m' } as const
// A permit of a dead process ends after the time of a load and a lease.
const short = { ...options, loadTimeout: '1s', lease: { duration: 500 } } as const
/** That time, ms. */
const HOLD = 1500

/** A fleet with an entry of the tag at each of these keys, which is then expired. */
async function expired(keys: readonly string[], given: FleetOptions): Promise<void> {
  fleet = await Fleet.start(given)
  for (const key of keys) await ask(fleet.member(0), key, 1, options)
  await fleet.member(1).tell({ do: 'expireTags', tags: ['t'] })
}

describe('a soft purge of a fleet', () => {
  it('leaves stale values to serve, and every key has one refresh', async () => {
    await expired(['a', 'b'], { size: 3 })
    for (const key of ['a', 'b']) {
      expect(values(await fleet.everybody(key, 20, options))).toEqual(new Set([`/${key} load 1`]))
      await until(async () => value((await ask(fleet.member(2), key, 1, options))[0]).value === `/${key} load 2`)
      expect(values(await fleet.everybody(key, 20, options))).toEqual(new Set([`/${key} load 2`]))
      expect(fleet.loads(key)).toBe(2)
    }
  }, 60_000)

  it('makes the value of a load that began before it stale at once', async () => {
    await expired(['other'], { size: 2 })
    const letGo = fleet.origin.hold('/k')
    const before = ask(fleet.member(0), 'k', 1, options)
    await until(() => fleet.loads('k') === 1)
    await fleet.member(1).tell({ do: 'expireTags', tags: ['t'] })
    letGo()
    expect(value((await before)[0])).toMatchObject({ value: '/k load 1', outcome: { kind: 'committed' } })
    expect(value((await ask(fleet.member(1), 'k', 1, options))[0])).toMatchObject({
      value: '/k load 1',
      status: 'stale',
    })
    await until(() => fleet.loads('k') === 2)
  }, 60_000)
})

describe('the permits of a process that is killed', () => {
  it('are free after the time of a load and a lease, and not before', async () => {
    await expired(['a', 'b'], { size: 2, refreshBudget: { atOnce: 1 } })
    const begun = performance.now()
    fleet.origin.hold('/a')
    await ask(fleet.member(0), 'a', 1, short)
    await until(() => fleet.loads('a') === 2)
    await fleet.member(0).kill()
    await until(async () => {
      await ask(fleet.member(1), 'b', 1, short)
      return fleet.loads('b') === 2
    })
    expect(performance.now() - begun).toBeGreaterThan(HOLD)
  }, 60_000)
})
