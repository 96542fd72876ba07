import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { TestProcess } from '../fleet/process.ts'
import type { BurstCommand, BurstResult } from './burst-member.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function startMember(url: string): Promise<TestProcess<BurstCommand>> {
  const member = await TestProcess.start<BurstCommand>(join(__dirname, 'burst-member.ts'), { BURST_REDIS: url })
  ends.push(() => member.kill())
  return member
}

describe.each([
  { how: 'calls', keys: 20_000 },
  { how: 'batch', keys: 5_000 },
] as const)('two processes that ask for the same $keys cold keys at once, by $how', ({ how, keys }) => {
  it('load each key once, and store them all', async () => {
    const server = await startRedis({ own: true })
    ends.push(() => server.stop())
    const members = await Promise.all([startMember(server.url), startMember(server.url)])
    const results = await Promise.all(members.map((member) => member.tell<BurstResult>({ how, keys })))
    expect(results.map(({ right, away }) => ({ right, away }))).toEqual([
      { right: keys, away: [] },
      { right: keys, away: [] },
    ])
    const loaded = results.flatMap((result) => result.loaded)
    expect([loaded.length, new Set(loaded).size]).toEqual([keys, keys])
    const client = await createClient({ url: server.url }).connect()
    ends.push(() => client.destroy())
    const stored = await client.keys('cattlegrid:{*}')
    expect(stored.filter((name) => name.includes(`{${how} `))).toHaveLength(keys)
  }, 300_000)
})
