import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, type Ended, Fleet, until } from './fleet.ts'

let fleet: Fleet

beforeAll(async () => {
  fleet = await Fleet.start()
}, 60_000)
afterAll(() => fleet.stop())

const everybody = async (key: string): Promise<Ended[]> =>
  (await Promise.all(fleet.members.map((member) => ask(member, key, 50)))).flat()

/** The answer of a call that did not fail. */
function value(ended: Ended | undefined): Ended & { kind: 'value' } {
  if (ended?.kind !== 'value') throw new Error(`No value: ${JSON.stringify(ended)}`)
  return ended
}

describe('four processes over one Redis', () => {
  it('make one load for 200 callers of a cold key, and one more when it has expired', async () => {
    const letGo = fleet.origin.hold('/hot')
    const cold = everybody('hot')
    await until(() => fleet.origin.count('/hot') === 1)
    letGo()
    expect(new Set((await cold).map((ended) => value(ended).value))).toEqual(new Set(['/hot load 1']))
    expect(fleet.origin.count('/hot')).toBe(1)

    await fleet.redis.pExpire(fleet.entryKey('hot'), 1)
    await until(async () => (await fleet.redis.exists(fleet.entryKey('hot'))) === 0)
    expect(new Set((await everybody('hot')).map((ended) => value(ended).value))).toEqual(new Set(['/hot load 2']))
    expect(fleet.origin.count('/hot')).toBe(2)
  })

  it('serve the stale value at once at expiry while one of them refreshes behind', async () => {
    const options = { staleWhileRevalidate: '10m' } as const
    await ask(fleet.member(0), 'warm', 1, options)
    // As if its hour had passed: what is left of its life is the stale window.
    await fleet.redis.pExpire(fleet.entryKey('warm'), 10 * 60_000)
    const letGo = fleet.origin.hold('/warm')
    const answers = (await Promise.all(fleet.members.map((member) => ask(member, 'warm', 50, options)))).flat()
    expect(new Set(answers.map((ended) => `${value(ended).value}, ${value(ended).status}`))).toEqual(
      new Set(['/warm load 1, stale']),
    )
    await until(() => fleet.origin.count('/warm') === 2)
    letGo()
    await until(async () => (await fleet.member(3).tell({ do: 'get', key: 'warm' })) === '/warm load 2')
    expect(fleet.origin.count('/warm')).toBe(2)
  })

  it('keep out what a leader loaded that was stopped past its lease', async () => {
    const options = { lease: { duration: 300 } } as const
    const letGo = fleet.origin.hold('/paused')
    const old = ask(fleet.member(0), 'paused', 1, options)
    await until(() => fleet.origin.count('/paused') === 1)
    fleet.member(0).pause()
    letGo()
    await until(async () => (await fleet.redis.exists(`${fleet.entryKey('paused')}:l`)) === 0)
    const [next] = await ask(fleet.member(1), 'paused', 1, options)
    expect(value(next)).toMatchObject({ value: '/paused load 2', role: 'leader', outcome: { kind: 'committed' } })
    fleet.member(0).resume()
    expect(value((await old)[0])).toMatchObject({ value: '/paused load 1', outcome: { kind: 'refused' } })
    expect(await fleet.member(2).tell({ do: 'get', key: 'paused' })).toBe('/paused load 2')
  })

  it.each(['delete', 'expire'] as const)(
    'keep out what was loaded when another process called %s meanwhile',
    async (how) => {
      const key = `${how}d`
      const letGo = fleet.origin.hold(`/${key}`)
      const old = ask(fleet.member(0), key, 1)
      await until(() => fleet.origin.count(`/${key}`) === 1)
      await fleet.member(1).tell({ do: how, key })
      letGo()
      expect(value((await old)[0])).toMatchObject({ outcome: { kind: 'refused', why: 'voided' } })
      expect((await fleet.entryKeys()).includes(fleet.entryKey(key))).toBe(false)
      expect(value((await ask(fleet.member(2), key, 1))[0]).value).toBe(`/${key} load 2`)
    },
  )

  it('hang nobody on a loader that fails, and ask it once for all of them', async () => {
    fleet.origin.answer('/down', 503, 'select * from secrets')
    const options = { failureCooldown: { min: '1m', max: '1m' } } as const
    const letGo = fleet.origin.hold('/down')
    const calls = Promise.all(fleet.members.map((member) => ask(member, 'down', 50, options)))
    await until(() => fleet.origin.count('/down') === 1)
    letGo()
    const codes = (await calls).map(
      (ends) => new Set(ends.map((ended) => (ended.kind === 'error' ? ended.code : 'a value'))),
    )
    expect(codes.filter((seen) => seen.has('HTTP_503') && seen.size === 1)).toHaveLength(1)
    expect(codes.filter((seen) => seen.has('CATTLEGRID_LOAD_FAILED') && seen.size === 1)).toHaveLength(3)
    expect(fleet.origin.count('/down')).toBe(1)
  })

  it('take over from a leader that was killed, when its lease has run out', async () => {
    const fleetOfTwo = await Fleet.start(2)
    try {
      const options = { lease: { duration: 500 } } as const
      const letGo = fleetOfTwo.origin.hold('/killed')
      const dying = ask(fleetOfTwo.member(0), 'killed', 1, options)
      const lost = dying.catch((error: unknown) => (error as Error).message)
      await until(() => fleetOfTwo.origin.count('/killed') === 1)
      const following = ask(fleetOfTwo.member(1), 'killed', 50, options)
      await fleetOfTwo.member(0).kill()
      expect(await lost).toBe('The process ended')
      await until(() => fleetOfTwo.origin.count('/killed') === 2)
      letGo()
      expect(new Set((await following).map((ended) => value(ended).value))).toEqual(new Set(['/killed load 2']))
      expect(fleetOfTwo.origin.count('/killed')).toBe(2)
    } finally {
      await fleetOfTwo.stop()
    }
  }, 30_000)
})
