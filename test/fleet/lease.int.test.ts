import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, Fleet, value, values } from './fleet.ts'
import { until } from '../support/until.ts'

let fleet: Fleet

beforeAll(async () => {
  fleet = await Fleet.start()
}, 60_000)
afterAll(() => fleet.stop())

describe('four processes over one Redis', () => {
  it('make one load for 200 callers of a cold key, and one more when it has expired', async () => {
    const letGo = fleet.origin.hold('/hot')
    const cold = fleet.everybody('hot')
    await until(() => fleet.loads('hot') === 1)
    letGo()
    expect(values(await cold)).toEqual(new Set(['/hot load 1']))
    expect(fleet.loads('hot')).toBe(1)

    await fleet.redis.pExpire(fleet.entryKey('hot'), 1)
    await until(async () => (await fleet.redis.exists(fleet.entryKey('hot'))) === 0)
    expect(values(await fleet.everybody('hot'))).toEqual(new Set(['/hot load 2']))
    expect(fleet.loads('hot')).toBe(2)
  })

  it('serve the stale value at once at expiry while one of them refreshes behind', async () => {
    const options = { staleWhileRevalidate: '10m' } as const
    await ask(fleet.member(0), 'warm', 1, options)
    // As if its hour had passed: what is left of its life is the stale window.
    await fleet.redis.pExpire(fleet.entryKey('warm'), 10 * 60_000)
    const letGo = fleet.origin.hold('/warm')
    const answers = await fleet.everybody('warm', 50, options)
    expect(new Set(answers.map((ended) => `${value(ended).value}, ${value(ended).status}`))).toEqual(
      new Set(['/warm load 1, stale']),
    )
    await until(() => fleet.loads('warm') === 2)
    letGo()
    await until(async () => (await fleet.member(3).tell({ do: 'get', key: 'warm' })) === '/warm load 2')
    expect(fleet.loads('warm')).toBe(2)
  })

  it('hang nobody on a loader that fails, and ask it once for all of them', async () => {
    fleet.origin.answer('/down', 503, 'select * from secrets')
    const options = { failureCooldown: { min: '1m', max: '1m' } } as const
    const letGo = fleet.origin.hold('/down')
    const calls = Promise.all(fleet.members.map((member) => ask(member, 'down', 50, options)))
    await until(() => fleet.loads('down') === 1)
    letGo()
    const codes = (await calls).map(
      (ends) => new Set(ends.map((ended) => (ended.kind === 'error' ? ended.code : 'a value'))),
    )
    expect(codes.filter((seen) => seen.has('HTTP_503') && seen.size === 1)).toHaveLength(1)
    expect(codes.filter((seen) => seen.has('CATTLEGRID_LOAD_FAILED') && seen.size === 1)).toHaveLength(3)
    expect(fleet.loads('down')).toBe(1)
  })
})
