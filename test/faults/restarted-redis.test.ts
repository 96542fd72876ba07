import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { RESP_TYPES } from 'redis'
import { ask, type Ended, value, values } from '../fleet/fleet.ts'
import { until } from '../support/until.ts'
import { OwnRedis } from './own-redis.ts'

let own: OwnRedis

beforeEach(async () => {
  own = await OwnRedis.start({ size: 3 })
}, 60_000)
afterEach(() => own.stop())

/**
 * Kills the server and starts an empty one, with one entry put back as a restore would, and waits until every process reads it: all are
 * connected again, and none has sent a script yet.
 */
async function restart(): Promise<void> {
  const { fleet, server } = own
  await ask(fleet.member(0), 'beacon', 1)
  const bytes = fleet.redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  const beacon = await bytes.get(fleet.entryKey('beacon'))
  await server.kill()
  await own.startAgain()
  await fleet.redis.set(fleet.entryKey('beacon'), beacon ?? '', { expiration: { type: 'PX', value: 60_000 } })
  for (const member of fleet.members)
    await until(async () => (await member.tell({ do: 'get', key: 'beacon' })) === '/beacon load 1')
}

describe('a Redis that was restarted', () => {
  it('is told its scripts again, by many calls at once, and none of them sees an error or a second load', async () => {
    const { fleet } = own
    await restart()
    const keys = Array.from({ length: 60 }, (_, index) => `k${index}`)
    const command = { do: 'ask', keys, callers: 3, options: {} } as const
    const answers = await Promise.all(fleet.members.map((member) => member.tell<Ended[]>(command)))
    const perKey = keys.map((key) => `${fleet.loads(key)} loads of ${key}`)
    expect(await own.count('errorstats', /errorstat_NOSCRIPT:count=(\d+)/)).toBeGreaterThan(1)
    expect(answers.flat().filter((ended) => ended.kind === 'error')).toEqual([])
    expect(new Set(perKey)).toEqual(new Set(keys.map((key) => `1 loads of ${key}`)))
  })

  it('has forgotten every lease: another process loads, and the old load is turned away', async () => {
    const { fleet } = own
    // Without an end, so that no renewal can be what ends it.
    const options = { lease: { duration: '1h', maxHold: '2h' } } as const
    const letOldGo = fleet.origin.hold('/old')
    const old = ask(fleet.member(0), 'k', 10, options, '/old')
    await until(() => fleet.origin.count('/old') === 1)
    await restart()
    const letNewGo = fleet.origin.hold('/k')
    const next = ask(fleet.member(1), 'k', 10, options)
    await until(() => fleet.loads('k') === 1)
    letOldGo()
    const [first, ...joined] = await old
    expect(value(first)).toMatchObject({ value: '/old load 1', outcome: { kind: 'refused', why: 'voided' } })
    expect(values(joined)).toEqual(new Set(['/old load 1']))
    letNewGo()
    expect(value((await next)[0])).toMatchObject({ value: '/k load 1', outcome: { kind: 'committed' } })
    expect(values(await fleet.everybody('k'))).toEqual(new Set(['/k load 1']))
  })

  it('keeps out the old load also when nobody has asked meanwhile', async () => {
    const { fleet } = own
    const options = { lease: { duration: '1h', maxHold: '2h' } } as const
    const letGo = fleet.origin.hold('/k')
    const old = ask(fleet.member(0), 'k', 1, options)
    await until(() => fleet.loads('k') === 1)
    await restart()
    letGo()
    expect(value((await old)[0])).toMatchObject({ outcome: { kind: 'refused', why: 'voided' } })
    expect(await fleet.redis.exists(fleet.entryKey('k'))).toBe(0)
  })
})
