import { spawnSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { Redis } from 'ioredis'
import { addressOf, closing } from '../support/ioredis.ts'
import { connect, openStores, redisUrl, type View } from '../../../../test/support/redis-under-test.ts'

const ROUNDS = 3

/** Deletes the entry from another process, and returns once Redis has told that process so. This one does nothing meanwhile. */
function deleteElsewhere(name: string): void {
  const { port } = addressOf(redisUrl())
  const source = `const socket = require('node:net').connect(${port}, '127.0.0.1')
    socket.on('data', (reply) => { process.stdout.write(reply); socket.destroy() })
    socket.write(${JSON.stringify(`*2\r\n$3\r\nDEL\r\n$${name.length}\r\n${name}\r\n`)})`
  const { stdout } = spawnSync(process.execPath, ['-e', source], { encoding: 'utf8' })
  expect(stdout).toBe(':1\r\n')
}

const afterTheWrite = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
const atOnce = (): undefined => undefined

const clients: readonly (readonly [string, () => Promise<View>])[] = [
  ['node-redis', () => connect()],
  ['ioredis', () => closing(new Redis({ ...addressOf(redisUrl()), lazyConnect: false }))],
]

describe.each(clients)('with %s, a call after another process’s acknowledged delete', (_, view) => {
  test.each([
    ['does not join a read whose reply lies in the socket', afterTheWrite],
    ['does not join a read that was sent in the same turn', atOnce],
  ])('%s', async (__, pause) => {
    const stores = openStores(view)
    const cache: Cache = createCache({ store: await stores.open(), ttl: '1m' })
    const wrong: unknown[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      await cache.set(`k${round}`, 'deleted')
      const before = cache.get(`k${round}`)
      // A pause lets the read be sent, but no reply be read.
      await pause()
      deleteElsewhere(`${stores.namespace}:{k${round}}`)
      const after = await cache.getOrSet(`k${round}`, () => 'new')
      if (after !== 'new') wrong.push(after)
      await before
    }
    expect(wrong).toEqual([])
    await cache.close()
    await stores.stop()
  })
})
