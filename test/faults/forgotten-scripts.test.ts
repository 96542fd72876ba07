import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Ended } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis } from './own-redis.ts'

const ROUNDS = 12
/** Above 2 KB a record goes ahead to a key of its own. */
const LONG = 'x'.repeat(5000)

let own: OwnRedis

beforeAll(async () => {
  own = await OwnRedis.start({ size: 3 })
}, 60_000)
afterAll(() => own.stop())

/** Lets the server forget its scripts again and again, until what it returns is called. */
function forgetful(): () => Promise<void> {
  const end = new AbortController()
  const forget = async (): Promise<void> => {
    while (!end.signal.aborted) await own.fleet.redis.scriptFlush()
  }
  const flushing = forget()
  return () => {
    end.abort()
    return flushing
  }
}

describe('SCRIPT FLUSH without end under load', () => {
  it('fails no call, loads once for each expiry and stores once for each load', async () => {
    const { fleet } = own
    const keys = ['a', 'b', 'c', 'long-1', 'long-2']
    for (const key of keys.slice(3)) fleet.origin.answer(`/${key}`, 200, LONG)
    const endings: Ended[] = []
    const loads: string[] = []
    const stop = forgetful()
    try {
      for (let round = 1; round <= ROUNDS; round += 1) {
        const command = { do: 'ask', keys, callers: 10, options: {} } as const
        endings.push(...(await Promise.all(fleet.members.map((member) => member.tell<Ended[]>(command)))).flat())
        loads.push(...keys.map((key) => `${key}: ${fleet.loads(key) - round} more than expiries`))
        await Promise.all(keys.map((key) => fleet.redis.pExpire(fleet.entryKey(key), 1)))
        await until(async () => (await fleet.redis.exists(keys.map((key) => fleet.entryKey(key)))) === 0)
      }
    } finally {
      await stop()
    }
    expect(endings.filter(({ kind }) => kind === 'error')).toEqual([])
    expect(endings).toHaveLength(ROUNDS * keys.length * 3 * 10)
    expect(new Set(loads)).toEqual(new Set(keys.map((key) => `${key}: 0 more than expiries`)))
    const events = await fleet.events()
    const commits = keys.map((key) => events.filter((event) => event === `commit ${key}`).length)
    expect(commits).toEqual(keys.map(() => ROUNDS))
    expect(events.filter((event) => /^(away|refused)/.test(event))).toEqual([])
    // The scripts were gone indeed.
    expect(await own.count('errorstats', /errorstat_NOSCRIPT:count=(\d+)/)).toBeGreaterThan(ROUNDS)
  })
})
