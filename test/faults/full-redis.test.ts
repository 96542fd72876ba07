import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ask, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis } from './own-redis.ts'

let own: OwnRedis

beforeEach(async () => {
  own = await OwnRedis.start({ size: 3 }, { args: ['--maxmemory-policy', 'noeviction'] })
}, 60_000)
afterEach(() => own.stop())

describe('a Redis that has no memory left and evicts nothing', () => {
  it('still serves and invalidates; loads run once per process, unstored, and nobody gets an error', async () => {
    const { fleet } = own
    for (const key of ['kept', 'deleted', 'expired']) await ask(fleet.member(0), key, 1)
    await ask(fleet.member(0), 'tagged', 1, { tags: ['red'] })
    await fleet.redis.configSet('maxmemory', '1')

    const kept = await fleet.everybody('kept')
    expect(new Set(kept.map((ended) => value(ended).status))).toEqual(new Set(['fresh']))
    expect(fleet.loads('kept')).toBe(1)

    const cold = await fleet.everybody('cold', 20)
    expect(values(cold)).toEqual(new Set(['/cold load 1', '/cold load 2', '/cold load 3']))
    expect(fleet.loads('cold')).toBe(3)
    expect(await fleet.redis.exists(fleet.entryKey('cold'))).toBe(0)
    expect((await fleet.events()).filter((event) => event === 'away acquire cold')).toHaveLength(3)

    await fleet.member(1).tell({ do: 'delete', key: 'deleted' })
    await fleet.member(1).tell({ do: 'expire', key: 'expired' })
    await fleet.member(1).tell({ do: 'invalidateTags', tags: ['red'] })
    for (const member of fleet.members) {
      expect(await member.tell({ do: 'get', key: 'deleted' })).toBeUndefined()
      expect(await member.tell({ do: 'get', key: 'expired' })).toBeUndefined()
      await until(async () => (await member.tell({ do: 'get', key: 'tagged' })) === undefined)
    }

    await fleet.redis.configSet('maxmemory', '0')
    await fleet.recovered()
    expect(values(await fleet.everybody('deleted'))).toEqual(new Set(['/deleted load 2']))
    expect(fleet.loads('deleted')).toBe(2)
  })
})
