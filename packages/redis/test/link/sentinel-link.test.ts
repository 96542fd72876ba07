import { describe, expect, test } from '@jest/globals'
import type { RedisClient, RedisSentinel } from '@cattlegrid/redis'
import { SentinelLink } from '../../src/link/sentinel-link.ts'

// Moments that no real Sentinel can be held in.

type Execute = RedisSentinel['_execute']

function linkWith(isReady: boolean, execute: Execute): SentinelLink {
  return new SentinelLink({
    isOpen: true,
    isReady,
    getMasterNode: () => ({ host: 'node', port: 1 }),
    sendCommand: () => Promise.resolve(),
    _execute: execute,
    on: () => undefined,
    off: () => undefined,
  })
}

const connected: string[] = []
const duplicate = {
  unref: () => undefined,
  connect: () => Promise.resolve(connected.push('the duplicate')),
} as Partial<RedisClient> as RedisClient
const reserved = { duplicate: () => duplicate } as RedisClient

describe('a link to the master that Sentinel names', () => {
  test('subscribes on a duplicate of the reserved connection', async () => {
    const connection = linkWith(true, (_, run) => run(reserved)).subscriberConnection()
    await connection?.client.connect()
    expect(connected).toEqual(['the duplicate'])
  })

  test('requests no connection while there is no master: the Sentinel object would search for one in a loop', () => {
    let asked = 0
    const count: Execute = (_, run) => {
      asked += 1
      return run(reserved)
    }
    expect([linkWith(false, count).subscriberConnection(), asked]).toEqual([undefined, 0])
  })

  test.each<[string, Execute]>([
    ['comes later', (_, run) => Promise.resolve().then(() => run(reserved))],
    ['never comes', () => Promise.reject(new Error('no master'))],
  ])('has nothing to listen on where the connection %s', async (_, execute) => {
    const link = linkWith(true, execute)
    expect(link.subscriberConnection()).toBeUndefined()
    await new Promise((resolve) => setImmediate(resolve))
  })
})
