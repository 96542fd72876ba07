import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ask, type Ended, Fleet, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'

const PROCESSES = 8
const CLAIMERS = 200
/** What the clock of Redis and its rounding may differ by, ms. */
const ROUNDING = 5
/** Nobody gives up by itself: who is not answered hangs. */
const patient = { door: 'claim', waitTimeout: '10m' } as const

let fleet: Fleet

beforeEach(async () => {
  fleet = await Fleet.start({ size: PROCESSES })
}, 60_000)
afterEach(() => fleet.stop())

const leaders = (endings: readonly Ended[]): number => endings.filter((ended) => value(ended).role === 'leader').length

/** Lets all processes but the first claim the key. */
async function othersClaim(duration: number): Promise<Ended[]> {
  const others = fleet.members.slice(1)
  const options = { ...patient, lease: { duration } }
  return (await Promise.all(others.map((member) => ask(member, 'k', CLAIMERS, options)))).flat()
}

describe('eight processes of which each has 200 callers that claim one cold key', () => {
  it('have one lead, and 1,599 values that its commit brought', async () => {
    const letGo = fleet.origin.hold('/k')
    const claiming = fleet.everybody('k', CLAIMERS, { ...patient, lease: { duration: '5m', maxHold: '5m' } })
    await until(() => fleet.loads('k') === 1)
    letGo()
    const endings = await claiming
    expect(endings).toHaveLength(PROCESSES * CLAIMERS)
    expect(values(endings)).toEqual(new Set(['/k load 1']))
    expect(leaders(endings)).toBe(1)
  })
})

describe('the holder of a lead', () => {
  it('that is killed is followed by one of all that wait, at the end of its hold and not before', async () => {
    const letGo = fleet.origin.hold('/k')
    const lost = ask(fleet.member(0), 'k', 1, { ...patient, lease: { duration: 3000 } }).catch(String)
    await until(() => fleet.loads('k') === 1)
    const claiming = othersClaim(60_000)
    await fleet.member(0).kill()
    expect(await lost).toBe('Error: The process ended')
    const killedAt = performance.now()
    const remainder = await fleet.redis.pTTL(fleet.leaseKey('k'))
    await until(() => fleet.loads('k') > 1)
    expect(performance.now() - killedAt).toBeGreaterThan(remainder - ROUNDING)
    letGo()
    const endings = await claiming
    expect(values(endings)).toEqual(new Set(['/k load 2']))
    expect(leaders(endings)).toBe(1)
  })

  it('that never ends it, and lives on, is followed at the end of its hold too', async () => {
    expect(await fleet.member(0).tell({ do: 'forget', key: 'k', hold: 2000 })).toBe('lead')
    const heldAt = performance.now()
    const remainder = await fleet.redis.pTTL(fleet.leaseKey('k'))
    const endings = await othersClaim(60_000)
    expect(performance.now() - heldAt).toBeGreaterThan(remainder - ROUNDING)
    expect(values(endings)).toEqual(new Set(['/k load 1']))
    expect(leaders(endings)).toBe(1)
  })
})
