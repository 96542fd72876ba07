import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { until } from '../support/until.ts'
import { TestProcess } from '../fleet/process.ts'
import type { Command, SurvivalReport } from './survival.ts'

const rest = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

/** What befalls the Redis, one after the other; each is left alone for a while. */
async function trouble(server: RedisServer, proxy: FaultProxy): Promise<RedisServer> {
  const suffer = async (fault: Fault): Promise<void> => {
    await proxy.inject(fault)
    await rest(700)
    await proxy.heal()
    await rest(700)
  }
  await rest(700)
  server.pause()
  await rest(2000)
  server.resume()
  await rest(1000)
  await suffer({ kind: 'half-open' })
  // Only this tells a client that nobody watches over that its connection is gone.
  await suffer({ kind: 'reset' })
  await suffer({ kind: 'refuse' })
  await suffer({ kind: 'black-hole' })
  await suffer({ kind: 'latency', ms: 300 })
  await cutSubscriptions(server)
  await server.kill()
  await rest(1500)
  return await startRedis({ port: server.port })
}

async function cutSubscriptions(server: RedisServer): Promise<void> {
  const redis = await createClient({ url: server.url })
    .on('error', () => {})
    .connect()
  for (let kills = 0; kills < 10; kills += 1) {
    await redis.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
    await rest(100)
  }
  redis.destroy()
}

describe('a process in which loaders, codecs, observers and callers fail all the time', () => {
  it('outlives a Redis that is frozen, cut off, reset, killed and back, and works with it again', async () => {
    let server = await startRedis({ own: true })
    const proxy = await startFaultProxy({ target: { port: server.port } })
    const member = await TestProcess.start<Command>(join(__dirname, 'survival-member.ts'), {
      SURVIVAL_REDIS: `redis://127.0.0.1:${proxy.port}`,
      SURVIVAL_NAMESPACE: `survival-${randomUUID()}`,
      NODE_OPTIONS: '--unhandled-rejections=strict',
    })
    try {
      server = await trouble(server, proxy)
      expect(member.alive).toBe(true)
      await until(() => member.tell<boolean>('is-back'))
      const report = await member.tell<SurvivalReport>('end')
      process.stderr.write(`survival: ${JSON.stringify(report)}\n`)
      expect(member.alive).toBe(true)
      expect(report).toMatchObject({ warnings: [], withoutListener: 0 })
      // The run was one: all of it went wrong.
      expect(report.connections).toBeGreaterThan(2)
      expect(report.background).toBeGreaterThan(10)
      const wrong = [
        'away',
        'load-failed',
        'observer-failed',
        'encode-failed',
        'unreadable',
        'notices',
        'breaker',
        'close',
      ]
      expect(wrong.filter((name) => !(name in report.counts))).toEqual([])
    } finally {
      await member.kill()
      await proxy.close()
      await server.stop()
    }
  }, 120_000)

  it.each([
    ['its listener throws', 'cache.on("load", () => { throw new Error("mine") })', 0],
    ['its listener rejects', 'cache.on("load", async () => { throw new Error("mine") })', 0],
    // Node hands such an error to the process, and its publisher cannot catch it: docs/operations.md says so.
    ['its subscriber throws', 'subscribe("cattlegrid:load", () => { throw new Error("mine") })', 1],
  ])('ends with the code that docs/operations.md tells when %s', async (_, observe, code) => {
    const program = `
      import { subscribe } from 'node:diagnostics_channel'
      import { createCache } from '@cattlegrid/core'
      const cache = createCache({ ttl: '1s' })
      ${observe}
      console.log(await cache.getOrSet('k', () => 'value'))`
    const child = spawn(process.execPath, ['--unhandled-rejections=strict', '--input-type=module', '-e', program], {
      cwd: resolve(__dirname, '../..'),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    expect(await once(child, 'close')).toEqual([code, null])
    expect(said.includes('Error: mine')).toBe(code === 1)
  })
})
