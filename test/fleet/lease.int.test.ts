import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, type Door, Fleet, value, values } from './fleet.ts'
import { until } from '../support/until.ts'

let fleet: Fleet

beforeAll(async () => {
  fleet = await Fleet.start()
}, 60_000)
afterAll(() => fleet.stop())

describe.each<Door>(['lookup', 'claim'])('four processes over one Redis, asked by %s', (door) => {
  it('make one load for 200 callers of a cold key, and one more when it has expired', async () => {
    const key = `hot-${door}`
    const letGo = fleet.origin.hold(`/${key}`)
    const cold = fleet.everybody(key, 50, { door })
    await until(() => fleet.loads(key) === 1)
    letGo()
    expect(values(await cold)).toEqual(new Set([`/${key} load 1`]))
    expect(fleet.loads(key)).toBe(1)

    await fleet.redis.pExpire(fleet.entryKey(key), 1)
    await until(async () => (await fleet.redis.exists(fleet.entryKey(key))) === 0)
    expect(values(await fleet.everybody(key, 50, { door }))).toEqual(new Set([`/${key} load 2`]))
    expect(fleet.loads(key)).toBe(2)
  })

  it('hang nobody on a loader that fails, and ask it once for all of them', async () => {
    const key = `down-${door}`
    fleet.origin.answer(`/${key}`, 503, 'select * from secrets')
    const options = { door, failureCooldown: { min: '1m', max: '1m' } } as const
    const letGo = fleet.origin.hold(`/${key}`)
    const calls = Promise.all(fleet.members.map((member) => ask(member, key, 50, options)))
    await until(() => fleet.loads(key) === 1)
    letGo()
    const codes = (await calls).map(
      (ends) => new Set(ends.map((ended) => (ended.kind === 'error' ? ended.code : 'a value'))),
    )
    expect(codes.filter((seen) => seen.has('HTTP_503') && seen.size === 1)).toHaveLength(1)
    expect(codes.filter((seen) => seen.has('CATTLEGRID_LOAD_FAILED') && seen.size === 1)).toHaveLength(3)
    expect(fleet.loads(key)).toBe(1)
  })
})

describe('four processes over one Redis', () => {
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

  it('give the lead of an expired key to one claim, and the stale value at once to all others', async () => {
    const options = { door: 'claim', staleWhileRevalidate: '10m' } as const
    await ask(fleet.member(0), 'claimed', 1, options)
    await fleet.redis.pExpire(fleet.entryKey('claimed'), 10 * 60_000)
    const letGo = fleet.origin.hold('/claimed')
    let answered = 0
    const claiming = fleet.members.map(async (member) => {
      const endings = await ask(member, 'claimed', 50, options)
      answered += 1
      return endings
    })
    // Nobody comes after the commit: all but the process that leads have their stale value.
    await until(() => answered === 3)
    letGo()
    const answers = (await Promise.all(claiming)).flat().map((ended) => `${value(ended).value}, ${value(ended).status}`)
    expect(answers.filter((answer) => answer === '/claimed load 2, loaded')).toHaveLength(1)
    expect(answers.filter((answer) => answer === '/claimed load 1, stale')).toHaveLength(199)
    expect(fleet.loads('claimed')).toBe(2)
  })
})
