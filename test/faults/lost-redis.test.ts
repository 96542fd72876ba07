import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ask, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis } from './own-redis.ts'

let own: OwnRedis

beforeEach(async () => {
  // Who is woken by the break itself may still write into it: that step ends with its deadline.
  own = await OwnRedis.start({ size: 3, storeTimeout: '2s' })
}, 60_000)
afterEach(() => own.stop())

describe('a Redis that is gone and comes back', () => {
  it('fails nobody meanwhile, executes nothing late, and collapses the loads of the fleet again', async () => {
    const { fleet, server } = own
    await server.kill()
    const cold = await fleet.everybody('cold', 20)
    expect(values(cold)).toEqual(new Set(['/cold load 1', '/cold load 2', '/cold load 3']))
    expect(fleet.loads('cold')).toBe(3)
    const invalidation = fleet.member(0).tell({ do: 'delete', key: 'cold' })
    await expect(invalidation).rejects.toThrow('CATTLEGRID_STORE_AWAY')
    await expect(fleet.member(0).tell({ do: 'set', key: 'set', value: 'late' })).rejects.toThrow(
      'CATTLEGRID_STORE_AWAY',
    )

    await own.startAgain()
    await fleet.recovered()
    for (const key of ['cold', 'set'])
      expect(await fleet.redis.exists([fleet.entryKey(key), fleet.leaseKey(key)])).toBe(0)
    const letGo = fleet.origin.hold('/hot')
    const hot = fleet.everybody('hot')
    await until(() => fleet.loads('hot') === 1)
    letGo()
    expect(values(await hot)).toEqual(new Set(['/hot load 1']))
    expect(fleet.loads('hot')).toBe(1)
  })

  it('in the middle of a wait, leaves no follower waiting', async () => {
    const { fleet, server } = own
    const options = { lease: { duration: '1h', maxHold: '2h' } } as const
    const letGo = fleet.origin.hold('/k')
    const leading = ask(fleet.member(0), 'k', 10, options)
    await until(() => fleet.loads('k') === 1)
    const following = Promise.all([1, 2].map((index) => ask(fleet.member(index), 'k', 10, options)))
    await until(async () => (await fleet.redis.getRange(fleet.leaseKey('k'), 23, 23)) === '+')
    await server.kill()
    await until(() => fleet.loads('k') === 3)
    letGo()
    const answers = [...(await leading), ...(await following).flat()]
    expect(values(answers)).toEqual(new Set(['/k load 1', '/k load 2', '/k load 3']))
    await own.startAgain()
    await fleet.recovered()
    expect(await fleet.redis.exists(fleet.entryKey('k'))).toBe(0)
  })
})
