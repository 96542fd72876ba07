import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { delaysOf, lateAnswers, NearFleet, type Round, sayDelays } from './near-push.ts'

/** What a reader may be late by where nobody tells it: near.maxAge, and the default of storeTimeout. */
const MAX_AGE = 1000
const GRACE = MAX_AGE + 250

const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `k${index}`)
/** The answers after the acknowledgement that were still the old ones. */
const old = (round: Round): number => lateAnswers(round, 0)

let server: RedisServer
beforeAll(async () => {
  server = await startRedis({ own: true })
})
afterAll(() => server.stop())

describe('an invalidation, in the near caches of other processes', () => {
  it('is seen each time, by its push alone', async () => {
    // No copy becomes as old while the test lasts.
    const fleet = await NearFleet.start({ url: server.url, maxAge: '10m', readers: 3, folder: __dirname })
    try {
      const rounds: Round[] = []
      for (let round = 0; round < 200; round += 1) rounds.push(await fleet.round([`k${round % 20}`]))
      const delays = delaysOf(rounds)
      process.stderr.write(`${sayDelays(delays)}\n`)
      expect(delays).toHaveLength(600)
      expect(delays.at(-1)).toBeLessThan(60_000)
    } finally {
      await fleet.stop()
    }
  }, 120_000)

  it('is seen at most near.maxAge later while the channel is cut and nobody notices', async () => {
    const proxy: FaultProxy = await startFaultProxy({ target: { port: server.port } })
    const earUrl = `redis://127.0.0.1:${proxy.port}`
    const fleet = await NearFleet.start({
      url: server.url,
      earUrl,
      maxAge: `${MAX_AGE}ms`,
      readers: 2,
      folder: __dirname,
    })
    try {
      let after = 0
      for (let round = 0; round < 3; round += 1) {
        const cut = await fleet.round(keys(50), () => proxy.inject({ kind: 'black-hole', direction: 'to-client' }))
        expect(lateAnswers(cut, GRACE)).toBe(0)
        after += old(cut)
        await proxy.heal()
      }
      // The pushes were lost: there were old answers to be found.
      expect(after).toBeGreaterThan(100)
    } finally {
      await fleet.stop()
      await proxy.close()
    }
  }, 120_000)

  it('is seen at most near.maxAge later while the connection of the channel is killed again and again', async () => {
    const fleet = await NearFleet.start({ url: server.url, maxAge: `${MAX_AGE}ms`, readers: 2, folder: __dirname })
    const redis = await createClient({ url: server.url })
      .on('error', () => {})
      .connect()
    const killed: number[] = []
    const killing = setInterval(() => {
      void redis
        .sendCommand<number>(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
        .then((count) => count > 0 && killed.push(count))
    }, 100)
    try {
      for (let round = 0; round < 3 || killed.length < 3; round += 1) {
        const cut = await fleet.round(keys(50))
        expect(lateAnswers(cut, GRACE)).toBe(0)
      }
    } finally {
      clearInterval(killing)
      await fleet.stop()
      redis.destroy()
    }
  }, 120_000)
})
