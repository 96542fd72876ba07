import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ask, type Ended, type Fleet, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis, PLACES } from './own-redis.ts'

const PROCESSES = 8
const CLAIMERS = 200
/** What the clock of Redis and its rounding may differ by, ms. */
const ROUNDING = 5
/** Nobody gives up by itself: who is not answered hangs. */
const patient = { door: 'claim', waitTimeout: '10m' } as const

const leaders = (endings: readonly Ended[]): number => endings.filter((ended) => value(ended).role === 'leader').length

describe.each(PLACES)('eight processes over %s', (place) => {
  let own: OwnRedis
  let fleet: Fleet
  let key: string

  beforeEach(async () => {
    own = await OwnRedis.startAt(place, { size: PROCESSES })
    fleet = own.fleet
    key = await fleet.keyAt('k')
  }, 60_000)
  afterEach(() => own.stop())

  /** Lets all processes but the first claim the key. */
  async function othersClaim(duration: number): Promise<Ended[]> {
    const others = fleet.members.slice(1)
    const options = { ...patient, lease: { duration } }
    return (await Promise.all(others.map((member) => ask(member, key, CLAIMERS, options)))).flat()
  }

  /** Expects that one of those that waited led, and that all others got its value. */
  function expectOneLead(endings: readonly Ended[], load: number): void {
    expect(values(endings)).toEqual(new Set([`/${key} load ${load}`]))
    expect(leaders(endings)).toBe(1)
  }

  it('of which each has 200 callers that claim one cold key have one lead, and 1,599 values that its commit brought', async () => {
    const letGo = fleet.origin.hold(`/${key}`)
    const claiming = fleet.everybody(key, CLAIMERS, { ...patient, lease: { duration: '5m', maxHold: '5m' } })
    await until(() => fleet.loads(key) === 1)
    letGo()
    const endings = await claiming
    expect(endings).toHaveLength(PROCESSES * CLAIMERS)
    expectOneLead(endings, 1)
  })

  it('follow the holder of a lead that is killed at the end of its hold and not before, one of all that wait', async () => {
    const letGo = fleet.origin.hold(`/${key}`)
    const lost = ask(fleet.member(0), key, 1, { ...patient, lease: { duration: 3000 } }).catch(String)
    await until(() => fleet.loads(key) === 1)
    const claiming = othersClaim(60_000)
    await fleet.member(0).kill()
    expect(await lost).toBe('Error: The process ended')
    const killedAt = performance.now()
    const remainder = await fleet.redis.pTTL(fleet.leaseKey(key))
    await until(() => fleet.loads(key) > 1)
    expect(performance.now() - killedAt).toBeGreaterThan(remainder - ROUNDING)
    letGo()
    expectOneLead(await claiming, 2)
  })

  it('follow the holder of a lead that never ends it, and lives on, at the end of its hold too', async () => {
    expect(await fleet.member(0).tell({ do: 'forget', key, hold: 2000 })).toBe('lead')
    const heldAt = performance.now()
    const remainder = await fleet.redis.pTTL(fleet.leaseKey(key))
    const endings = await othersClaim(60_000)
    expect(performance.now() - heldAt).toBeGreaterThan(remainder - ROUNDING)
    expectOneLead(endings, 1)
  })

  it('follow the holder of a lead that it lost to the garbage collector long before the end of its hold', async () => {
    expect(await fleet.member(0).tell({ do: 'lose', key, hold: '1h' })).toBe('lead')
    const claiming = othersClaim(60_000)
    await until(async () => (await fleet.redis.getRange(fleet.leaseKey(key), 23, 23)) === '+')
    await until(async () => {
      await fleet.member(0).tell({ do: 'collect garbage' })
      return fleet.loads(key) === 1
    })
    expectOneLead(await claiming, 1)
  })
})
