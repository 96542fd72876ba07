import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Client, EchoStage, expectSoon, quiet } from './fault-network.ts'

let stage: EchoStage

beforeEach(async () => {
  stage = await EchoStage.start()
})
afterEach(() => stage.end())

/** How long it takes until the client has got that, ms. */
async function time(client: Client, text: string): Promise<number> {
  const begun = performance.now()
  await client.hears(text)
  return performance.now() - begun
}

describe('latency', () => {
  test('lets each way take so long, one way only where it is told to, and keeps the order', async () => {
    const client = await stage.spoken()
    await stage.proxy.inject({ kind: 'latency', ms: 100 })
    client.say('b').say('c')
    expect(await time(client, 'abc')).toBeGreaterThan(195)
    await stage.proxy.inject({ kind: 'latency', ms: 60_000, direction: 'to-client' })
    client.say('d')
    await expectSoon(() => stage.echo.received === 4)
    expect(client.got).toBe('abc')
  })

  test('delays the end of a side as much as its bytes', async () => {
    const client = await stage.spoken()
    await stage.proxy.inject({ kind: 'latency', ms: 60_000, direction: 'to-server' })
    client.socket.end('b')
    await quiet()
    expect([client.got, client.ended]).toEqual(['a', undefined])
    await stage.proxy.heal()
    await client.hears('ab')
    await expectSoon(() => client.ended === 'end')
  })

  test('that ends lets what it held back go at once', async () => {
    const client = await stage.spoken()
    await stage.proxy.inject({ kind: 'latency', ms: 60_000 })
    client.say('b')
    await quiet()
    await stage.proxy.heal()
    client.say('c')
    expect(await time(client, 'abc')).toBeLessThan(60_000)
  })
})

describe('slow bytes', () => {
  test('come as fast as they may, and all of them', async () => {
    const client = await stage.spoken()
    await stage.proxy.inject({ kind: 'slow', bytesPerSecond: 1000, direction: 'to-client' })
    const text = 'x'.repeat(300)
    client.say(text)
    await expectSoon(() => stage.echo.received === 301)
    expect(await time(client, `a${text}`)).toBeGreaterThan(200)
    await stage.proxy.inject({ kind: 'slow', bytesPerSecond: 0.01 })
    client.say('yz')
    await quiet()
    expect(stage.echo.received).toBe(302)
    await stage.proxy.heal()
    await client.hears(`a${text}yz`)
  })
})

describe('a black hole', () => {
  test('answers nobody, and what was lost in it arrives when it is healed', async () => {
    const before = await stage.spoken()
    await stage.proxy.inject({ kind: 'black-hole' })
    const during = stage.dial().say('x')
    before.say('b')
    await expectSoon(() => !during.socket.connecting)
    await quiet()
    expect([stage.echo.received, during.got, before.got, before.ended, during.ended]).toEqual([
      1,
      '',
      'a',
      undefined,
      undefined,
    ])
    await stage.proxy.heal()
    await before.hears('ab')
    await during.hears('x')
  })

  test('swallows what a latency had under way too', async () => {
    const client = await stage.spoken()
    await stage.proxy.inject({ kind: 'latency', ms: 60_000 })
    client.say('b')
    await quiet()
    await stage.proxy.inject({ kind: 'black-hole' })
    await quiet()
    expect(stage.echo.received).toBe(1)
    await stage.proxy.heal()
    await client.hears('ab')
  })

  test('may take the answers alone: what was asked is done', async () => {
    const client = await stage.spoken()
    await stage.proxy.inject({ kind: 'black-hole', direction: 'to-client' })
    client.say('b')
    await expectSoon(() => stage.echo.received === 2)
    await quiet()
    expect(client.got).toBe('a')
  })
})

describe('a half-open connection', () => {
  test('has lost its server and does not know it, for good', async () => {
    const before = await stage.spoken()
    await stage.proxy.inject({ kind: 'half-open' })
    const during = stage.dial()
    await expectSoon(() => stage.echo.open === 0 && !during.socket.connecting)
    for (const client of [before, during]) client.say('b')
    await quiet()
    await stage.proxy.heal()
    for (const client of [before, during]) client.say('c')
    await quiet()
    expect([before, during].map(({ got, ended }) => [got, ended])).toEqual([
      ['a', undefined],
      ['', undefined],
    ])
    expect(stage.echo.received).toBe(1)
    await stage.spoken()
  })

  test('is gone when its client goes', async () => {
    const [polite, rude] = [await stage.spoken(), await stage.spoken()]
    await stage.proxy.inject({ kind: 'half-open' })
    polite.socket.end()
    rude.socket.resetAndDestroy()
    await expectSoon(() => stage.proxy.traffic.open === 0)
  })

  test.each([
    ['unread', { kind: 'black-hole' }],
    ['under way', { kind: 'latency', ms: 60_000 }],
  ] as const)('is gone when its client goes, or went when a goodbye stayed %s', async (_, fault) => {
    const [earlier, later] = [await stage.spoken(), await stage.spoken()]
    await stage.proxy.inject(fault)
    earlier.socket.end('b')
    later.say('b')
    await quiet()
    await stage.proxy.inject({ kind: 'half-open' })
    later.socket.end()
    await expectSoon(() => stage.proxy.traffic.open === 0)
  })

  test('can be reset', async () => {
    const client = await stage.spoken()
    await stage.proxy.inject({ kind: 'half-open' })
    await stage.proxy.inject({ kind: 'reset' })
    await expectSoon(() => client.ended === 'ECONNRESET')
  })
})

describe('a reset', () => {
  test('breaks every connection, and each new one', async () => {
    const before = await stage.spoken()
    await stage.proxy.inject({ kind: 'reset' })
    await expectSoon(() => before.ended === 'ECONNRESET' && stage.echo.open === 0)
    const during = stage.dial()
    await expectSoon(() => during.ended === 'ECONNRESET' && stage.echo.open === 0)
    expect(stage.proxy.traffic.open).toBe(0)
  })
})

describe('a proxy that refuses', () => {
  test('ends every connection, is not there, and comes back on the same port', async () => {
    const before = await stage.spoken()
    const { port } = stage.proxy
    await stage.proxy.inject({ kind: 'refuse' })
    await expectSoon(() => before.ended !== undefined && stage.echo.open === 0)
    const during = stage.dial()
    await expectSoon(() => during.ended === 'ECONNREFUSED')
    await stage.proxy.heal()
    expect(stage.proxy.port).toBe(port)
    await stage.spoken()
  })

  test('says so when its port was taken meanwhile, and comes back when that is free', async () => {
    await stage.proxy.inject({ kind: 'refuse' })
    const squatter = createServer().listen(stage.proxy.port, '127.0.0.1')
    await once(squatter, 'listening')
    await expect(stage.proxy.heal()).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(stage.proxy.fault).toEqual({ kind: 'refuse' })
    await new Promise((resolve) => squatter.close(resolve))
    await stage.proxy.heal()
    await stage.spoken()
  })
})
