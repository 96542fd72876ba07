import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createClient } from 'redis'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { quiet, expectSoon } from './fault-network.ts'

type Client = Awaited<ReturnType<typeof connect>>

const redisPort = (): number => Number(new URL(process.env['CATTLEGRID_TEST_REDIS_URL'] ?? '').port)

// Its type is inferred: the general type of a node-redis client is another one, and does not fit.
async function connect(port: number) {
  const client = createClient({ url: `redis://127.0.0.1:${port}` })
  client.on('error', ({ code = '' }: NodeJS.ErrnoException) => errors.push(code))
  return await client.connect()
}

let proxy: FaultProxy
let client: Client
const errors: string[] = []

beforeEach(async () => {
  errors.length = 0
  proxy = await startFaultProxy({ target: { port: redisPort() } })
  client = await connect(proxy.port)
})
afterEach(async () => {
  client.destroy()
  await proxy.close()
})

/** A command, and whether it has been answered yet. */
function asked(): { readonly reply: Promise<unknown>; answered: () => boolean } {
  let over = false
  const reply = client.ping().finally(() => {
    over = true
  })
  reply.catch(() => undefined)
  return { reply, answered: () => over }
}

describe('a client of a real Redis, through the proxy', () => {
  test('talks as if the proxy were not there', async () => {
    const replies = await Promise.all(Array.from({ length: 1000 }, (_, index) => client.echo(String(index))))
    expect(replies).toEqual(Array.from({ length: 1000 }, (_, index) => String(index)))
  })

  test('has its answers late', async () => {
    await proxy.inject({ kind: 'latency', ms: 100 })
    const begun = performance.now()
    expect(await client.ping()).toBe('PONG')
    expect(performance.now() - begun).toBeGreaterThan(195)
  })

  test('hangs on a black hole, and is answered when that is healed', async () => {
    await proxy.inject({ kind: 'black-hole' })
    const { reply, answered } = asked()
    await quiet()
    expect(answered()).toBe(false)
    await proxy.heal()
    expect(await reply).toBe('PONG')
    expect(errors).toEqual([])
  })

  test('hangs on a half-open connection and never hears why, also after it is healed', async () => {
    await proxy.inject({ kind: 'half-open' })
    const { answered } = asked()
    await quiet()
    await proxy.heal()
    await quiet()
    expect([answered(), client.isReady, errors]).toEqual([false, true, []])
    const other = await connect(proxy.port)
    expect(await other.ping()).toBe('PONG')
    other.destroy()
  })

  test('fails at once on a reset, and connects again by itself when it is over', async () => {
    await proxy.inject({ kind: 'reset' })
    await expectSoon(() => errors.includes('ECONNRESET'))
    await proxy.heal()
    await expectSoon(() => client.isReady)
    expect(await client.ping()).toBe('PONG')
  })

  test('is refused by a server that is gone, and connects again when it is back', async () => {
    await proxy.inject({ kind: 'refuse' })
    await expectSoon(() => errors.includes('ECONNREFUSED'))
    await proxy.heal()
    await expectSoon(() => client.isReady)
    expect(await client.ping()).toBe('PONG')
  })
})
