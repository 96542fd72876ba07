import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ask, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis } from './own-redis.ts'

let own: OwnRedis

beforeEach(async () => {
  own = await OwnRedis.start({ size: 2 }, { args: ['--maxmemory-policy', 'allkeys-random'] })
}, 60_000)
afterEach(() => own.stop())

describe('a lease that Redis evicts for want of memory', () => {
  it('lets a second leader load: the first one’s value is turned away, the second one’s is stored', async () => {
    const { fleet } = own
    // Without an end, so that no renewal can be what ends it.
    const options = { lease: { duration: '1h', maxHold: '2h' } } as const
    const letFirstGo = fleet.origin.hold('/first')
    const letSecondGo = fleet.origin.hold('/second')
    const first = ask(fleet.member(0), 'k', 10, options, '/first')
    await until(() => fleet.origin.count('/first') === 1)
    expect(await fleet.redis.exists(fleet.leaseKey('k'))).toBe(1)

    // No room for anything: whatever is picked at random, the lease is evicted too.
    await fleet.redis.configSet('maxmemory', '1')
    await until(async () => (await own.count('stats', /evicted_keys:(\d+)/)) > 0 && (await fleet.redis.dbSize()) === 0)
    await fleet.redis.configSet('maxmemory', '0')

    const second = ask(fleet.member(1), 'k', 10, options, '/second')
    await until(() => fleet.origin.count('/second') === 1)
    letFirstGo()
    const [leader, ...joined] = await first
    expect(value(leader)).toMatchObject({ value: '/first load 1', outcome: { kind: 'refused', why: 'voided' } })
    expect(values(joined)).toEqual(new Set(['/first load 1']))
    letSecondGo()
    expect(value((await second)[0])).toMatchObject({ value: '/second load 1', outcome: { kind: 'committed' } })
    expect(values(await fleet.everybody('k'))).toEqual(new Set(['/second load 1']))
  })
})
