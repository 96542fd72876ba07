import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Fleet, values } from '../fleet/fleet.ts'

let fleet: Fleet

beforeAll(async () => {
  fleet = await Fleet.start({ size: 2 })
}, 60_000)
afterAll(() => fleet.stop())

const all = (...endings: readonly string[]): Set<string> => new Set(endings)
const events = async (name: string): Promise<number> => (await fleet.events()).filter((one) => one === name).length

describe('a key of another type where an entry should be', () => {
  it('is told of, read as a miss and left as it is; each process loads for its own callers until it is deleted', async () => {
    await fleet.redis.rPush(fleet.entryKey('entry'), ['not', 'ours'])
    expect(values(await fleet.everybody('entry', 20))).toEqual(all('/entry load 1', '/entry load 2'))
    expect(await fleet.redis.lRange(fleet.entryKey('entry'), 0, -1)).toEqual(['not', 'ours'])
    expect(await fleet.redis.exists(fleet.leaseKey('entry'))).toBe(0)
    expect(await events('away acquire entry')).toBe(2)
    expect(await events('unreadable entry')).toBeGreaterThanOrEqual(2)

    await fleet.member(0).tell({ do: 'expire', key: 'entry' })
    expect(await fleet.redis.lRange(fleet.entryKey('entry'), 0, -1)).toEqual(['not', 'ours'])
    await fleet.member(0).tell({ do: 'delete', key: 'entry' })
    expect(values(await fleet.everybody('entry', 20))).toEqual(all('/entry load 3'))
    expect(await events('commit entry')).toBe(1)
  })
})

describe('a key of another type where a lease should be', () => {
  it('does not keep its key unstored: one load for all processes, and its entry is stored', async () => {
    await fleet.redis.hSet(fleet.leaseKey('lease'), 'not', 'ours')
    expect(values(await fleet.everybody('lease', 20))).toEqual(all('/lease load 1'))
    expect(await fleet.redis.exists(fleet.entryKey('lease'))).toBe(1)
    expect(await fleet.redis.exists(fleet.leaseKey('lease'))).toBe(0)
    expect(await events('commit lease')).toBe(1)
  })
})
