import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ask, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis } from './own-redis.ts'

let own: OwnRedis

beforeEach(async () => {
  own = await OwnRedis.start({ size: 2, storeTimeout: '1s' })
  await until(async () => value((await ask(own.fleet.member(0), 'warm', 1))[0]).status === 'fresh')
}, 60_000)
afterEach(() => own.stop())

/** Longer than any test: whoever has an answer did not get it from a store that went on. */
const FOR_EVER = '600000'

describe('a Redis whose clients are paused', () => {
  it('for every command, answers nobody: each process loads for its own callers, and goes on with Redis after it', async () => {
    const { fleet } = own
    let over = false
    // Nothing ends such a pause but its end; the machine may be slow, so it lasts for much longer than the time-outs.
    await fleet.redis.sendCommand(['CLIENT', 'PAUSE', '8000', 'ALL'])
    const after = fleet.redis.ping().then(() => (over = true))
    const cold = await fleet.everybody('cold', 20)
    const warm = await fleet.everybody('warm', 20)
    expect(over).toBe(false)
    expect(values(cold)).toEqual(new Set(['/cold load 1', '/cold load 2']))
    expect(values(warm).size).toBeGreaterThan(0)
    await after
    await fleet.recovered()
    expect(await fleet.redis.exists(fleet.entryKey('cold'))).toBe(0)
    expect(values(await fleet.everybody('cold', 20))).toEqual(new Set(['/cold load 3']))
    expect(await fleet.member(1).tell({ do: 'get', key: 'warm' })).toBe('/warm load 1')
  })

  it('for writes, still serves what is there; leases that are granted too late are given back', async () => {
    const { fleet } = own
    // One that is not given back would outlive the test.
    const options = { lease: { duration: '1h', maxHold: '2h' } } as const
    await fleet.redis.sendCommand(['CLIENT', 'PAUSE', FOR_EVER, 'WRITE'])
    const warm = await fleet.everybody('warm', 20)
    expect(values(warm)).toEqual(new Set(['/warm load 1']))
    const cold = await fleet.everybody('cold', 20, options)
    expect(values(cold)).toEqual(new Set(['/cold load 1', '/cold load 2']))
    expect(await fleet.member(0).tell({ do: 'delete', key: 'warm' }).catch(String)).toContain('CATTLEGRID_STORE_AWAY')
    await fleet.redis.sendCommand(['CLIENT', 'UNPAUSE'])
    await fleet.recovered()
    expect(await fleet.redis.exists(fleet.entryKey('cold'))).toBe(0)
    // What each process loaded for itself stands for a few seconds more; then there is a lease to be had.
    await until(async () => values(await fleet.everybody('cold', 20, options)).has('/cold load 3'))
    expect(values(await fleet.everybody('cold', 20, options))).toEqual(new Set(['/cold load 3']))
    expect(fleet.loads('cold')).toBe(3)
  })
})
