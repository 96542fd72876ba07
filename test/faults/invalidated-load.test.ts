import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, Fleet, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import type { Command } from '../fleet/member.ts'

let fleet: Fleet

beforeAll(async () => {
  fleet = await Fleet.start({ size: 3 })
}, 60_000)
afterAll(() => fleet.stop())

const invalidations: readonly (readonly [how: string, key: string, why: string, invalidation: Command])[] = [
  ['delete', 'deleted', 'voided', { do: 'delete', key: 'deleted' }],
  ['expire', 'expired', 'voided', { do: 'expire', key: 'expired' }],
  ['clear', 'cleared', 'voided', { do: 'clear' }],
  ['invalidateTags', 'tagged', 'tag-voided', { do: 'invalidateTags', tags: ['red'] }],
]

describe('a load that runs while another process invalidates', () => {
  it.each(invalidations)('by %s stores nothing, and the next call loads anew', async (_, key, why, invalidation) => {
    // Without an end, so that no renewal can be what ends it.
    const options = { tags: ['red'], lease: { duration: '1h', maxHold: '2h' } } as const
    const letGo = fleet.origin.hold(`/${key}`)
    const old = ask(fleet.member(0), key, 10, options)
    await until(() => fleet.loads(key) === 1)
    await fleet.member(1).tell(invalidation)
    letGo()
    const answers = await old
    expect(values(answers)).toEqual(new Set([`/${key} load 1`]))
    expect(answers.map((ended) => value(ended).outcome).filter((outcome) => outcome !== undefined)).toEqual([
      { kind: 'refused', why },
    ])
    expect(await fleet.redis.exists(fleet.entryKey(key))).toBe(0)
    expect(values(await fleet.everybody(key, 10, options))).toEqual(new Set([`/${key} load 2`]))
    expect(fleet.loads(key)).toBe(2)
  })

  it('does not replace what another process has set meanwhile', async () => {
    const letGo = fleet.origin.hold('/set')
    const old = ask(fleet.member(0), 'set', 1)
    await until(() => fleet.loads('set') === 1)
    await fleet.member(1).tell({ do: 'set', key: 'set', value: 'written by hand' })
    letGo()
    expect(value((await old)[0])).toMatchObject({ outcome: { kind: 'refused', why: 'voided' } })
    expect(values(await fleet.everybody('set'))).toEqual(new Set(['written by hand']))
    expect(fleet.loads('set')).toBe(1)
  })

  it('is joined by nobody in the process that invalidated: who asks from then on has a load that began later', async () => {
    const letGo = fleet.origin.hold('/old')
    const old = ask(fleet.member(0), 'k', 1, {}, '/old')
    await until(() => fleet.origin.count('/old') === 1)
    await fleet.member(0).tell({ do: 'delete', key: 'k' })
    expect(values(await ask(fleet.member(0), 'k', 10))).toEqual(new Set(['/k load 1']))
    letGo()
    expect(value((await old)[0])).toMatchObject({ value: '/old load 1', outcome: { kind: 'refused' } })
    expect(values(await fleet.everybody('k'))).toEqual(new Set(['/k load 1']))
  })
})
