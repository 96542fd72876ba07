import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ask, type Ended, Fleet, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis, PLACES } from './own-redis.ts'

/** What the clock of Redis and its rounding may differ by, ms. */
const ROUNDING = 5

describe('a leader that is killed', () => {
  let fleet: Fleet

  beforeEach(async () => {
    fleet = await Fleet.start({ size: 3 })
  }, 60_000)
  afterEach(() => fleet.stop())

  it('is replaced when its lease, renewed until then, has run out: not before, and by one of all that wait', async () => {
    const options = { lease: { duration: 3000 } } as const
    const letGo = fleet.origin.hold('/k')
    const lost = ask(fleet.member(0), 'k', 1, options).catch(String)
    await until(() => fleet.loads('k') === 1)
    await until(async () => (await fleet.member(0).tell<string[]>({ do: 'events' })).includes('renew k'))
    const following = Promise.all([1, 2].map((index) => ask(fleet.member(index), 'k', 50, options)))
    await fleet.member(0).kill()
    expect(await lost).toBe('Error: The process ended')

    const killedAt = performance.now()
    const remainder = await fleet.redis.pTTL(fleet.leaseKey('k'))
    expect(remainder).toBeGreaterThan(0)
    await until(() => fleet.loads('k') > 1)
    expect(performance.now() - killedAt).toBeGreaterThan(remainder - ROUNDING)
    letGo()
    expect(values((await following).flat())).toEqual(new Set(['/k load 2']))
    expect(fleet.loads('k')).toBe(2)
  })

  it('takes nothing with it that was there: the stale value is served meanwhile', async () => {
    const options = { staleWhileRevalidate: '10m', lease: { duration: '1h' } } as const
    await ask(fleet.member(0), 'k', 1, options)
    await fleet.redis.pExpire(fleet.entryKey('k'), 10 * 60_000)
    fleet.origin.hold('/k')
    await ask(fleet.member(0), 'k', 1, options)
    await until(() => fleet.loads('k') === 2)
    await fleet.member(0).kill()
    const endings = (await Promise.all([1, 2].map((index) => ask(fleet.member(index), 'k', 50, options)))).flat()
    expect(values(endings)).toEqual(new Set(['/k load 1']))
    expect(fleet.loads('k')).toBe(2)
  })
})

describe.each([
  { door: 'lookup', why: /^taken$/ },
  // The end of its hold and its value reach the holder of a lead at once.
  { door: 'claim', why: /^(?:taken|expired)$/ },
] as const)('a leader that is stopped past its lease and goes on ($door)', ({ door, why }) => {
  const options = { door, lease: { duration: 300 } } as const

  describe.each(PLACES)('over %s', (place) => {
    let own: OwnRedis
    let fleet: Fleet
    let key: string

    beforeEach(async () => {
      own = await OwnRedis.startAt(place, { size: 3 })
      fleet = own.fleet
      key = await fleet.keyAt('k')
    }, 60_000)
    afterEach(() => own.stop())

    /** Leads in the first process, and stops it past its lease with its value on the way. `old`: what it will answer. */
    async function leadAndStop(): Promise<{ readonly old: Promise<Ended[]> }> {
      const letGo = fleet.origin.hold('/old')
      const old = ask(fleet.member(0), key, 1, options, '/old')
      await until(() => fleet.origin.count('/old') === 1)
      fleet.member(0).pause()
      letGo()
      await until(async () => (await fleet.redis.exists(fleet.leaseKey(key))) === 0)
      return { old }
    }

    it('has its value turned away while another loads, which stores its own', async () => {
      const { old } = await leadAndStop()
      const letGo = fleet.origin.hold('/new')
      const next = ask(fleet.member(1), key, 50, { door, lease: { duration: '1h' } }, '/new')
      await until(() => fleet.origin.count('/new') === 1)
      fleet.member(0).resume()
      const refused = { kind: 'refused', why: expect.stringMatching(why) }
      expect(value((await old)[0])).toMatchObject({ value: '/old load 1', outcome: refused })
      letGo()
      expect(value((await next)[0])).toMatchObject({ value: '/new load 1', outcome: { kind: 'committed' } })
      expect(await fleet.member(2).tell({ do: 'get', key })).toBe('/new load 1')
    })

    it('has its value turned away after another has stored its own, which stands', async () => {
      const { old } = await leadAndStop()
      const [next] = await ask(fleet.member(1), key, 50, options, '/new')
      expect(value(next)).toMatchObject({ value: '/new load 1', role: 'leader', outcome: { kind: 'committed' } })
      fleet.member(0).resume()
      expect(value((await old)[0])).toMatchObject({ value: '/old load 1', outcome: { kind: 'refused' } })
      expect(await fleet.member(2).tell({ do: 'get', key })).toBe('/new load 1')
    })
  })
})
