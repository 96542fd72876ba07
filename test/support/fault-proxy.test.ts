import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Fault, startFaultProxy } from './fault-proxy.ts'
import { Client, EchoStage, quiet, startEcho, expectSoon } from './fault-network.ts'

let stage: EchoStage

beforeEach(async () => {
  stage = await EchoStage.start()
})
afterEach(() => stage.end())

/** One of each kind. */
const FAULTS: readonly Fault[] = [
  { kind: 'latency', ms: 60_000 },
  { kind: 'slow', bytesPerSecond: 1 },
  { kind: 'black-hole' },
  { kind: 'half-open' },
  { kind: 'reset' },
  { kind: 'refuse' },
]

describe('a fault proxy without a fault', () => {
  test('passes everything on, both ways and in order, and counts it', async () => {
    const text = Array.from({ length: 20_000 }, (_, index) => String(index)).join(' ')
    const [one, other] = [stage.dial().say(text), stage.dial().say('hello')]
    await one.hears(text)
    await other.hears('hello')
    const bytes = text.length + 5
    expect(stage.proxy.traffic).toEqual({ connections: 2, open: 2, toServer: bytes, toClient: bytes })
  })

  test('passes the end of one side on and keeps the other open', async () => {
    const client = stage.dial()
    client.socket.end('last words')
    await client.hears('last words')
    await expectSoon(() => client.ended === 'end')
    await expectSoon(() => stage.proxy.traffic.open === 0 && stage.echo.open === 0)
  })

  test('breaks the client’s side when the server’s breaks, and the other way round', async () => {
    const one = await stage.spoken()
    stage.echo.sockets[0]?.resetAndDestroy()
    await expectSoon(() => one.ended === 'ECONNRESET')
    const other = await stage.spoken()
    other.socket.resetAndDestroy()
    await expectSoon(() => stage.proxy.traffic.open === 0 && stage.echo.open === 0)
  })

  test('resets a client whose server is not there, and goes on', async () => {
    const gone = await startEcho()
    const lost = await startFaultProxy({ target: { port: gone.port } })
    await gone.close()
    const client = new Client(lost.port).say('hello')
    await expectSoon(() => client.ended === 'ECONNRESET')
    expect(lost.traffic).toEqual({ connections: 1, open: 0, toServer: 0, toClient: 0 })
    await lost.close()
  })

  test.each([{ kind: 'none' }, { kind: 'latency', ms: 1 }] as const)(
    'reads no more from a sender than a reader takes ($kind)',
    async (fault) => {
      const lazy = await startEcho((socket) => socket.pause())
      const before = await startFaultProxy({ target: { port: lazy.port } })
      if (fault.kind === 'latency') await before.inject(fault)
      const all = 'x'.repeat(64 * 1024 * 1024)
      const client = new Client(before.port).say(all)
      stage.clients.push(client)
      // It goes on until every buffer on the way is full.
      for (let seen = -1; seen !== before.traffic.toServer || seen === 0; await quiet()) seen = before.traffic.toServer
      expect(client.socket.writableLength).toBeGreaterThan(0)
      expect(before.traffic.toServer).toBeLessThan(all.length / 2)
      lazy.sockets[0]?.resume()
      await expectSoon(() => lazy.received === all.length)
      await before.close()
      await lazy.close()
    },
  )
})

describe('a fault', () => {
  test.each(FAULTS)('$kind is over when the proxy is healed, for whoever connects then', async (fault) => {
    const before = await stage.spoken()
    await stage.proxy.inject(fault)
    expect(stage.proxy.fault).toEqual(fault)
    stage.dial().say('lost or late')
    before.say('b')
    await quiet()
    await stage.proxy.heal()
    expect(stage.proxy.fault).toBeUndefined()
    await stage.spoken()
  })

  test.each(FAULTS)('$kind lets the proxy close, and leaves no connection', async (fault) => {
    const before = await stage.spoken()
    await stage.proxy.inject(fault)
    const during = stage.dial().say('x')
    before.say('b')
    await quiet()
    await stage.proxy.close()
    await expectSoon(() => stage.proxy.traffic.open === 0 && stage.echo.open === 0)
    await expectSoon(() => before.ended !== undefined && during.ended !== undefined)
    const after = stage.dial()
    await expectSoon(() => after.ended === 'ECONNREFUSED')
  })

  test('gives way to the next one, in the order in which they were asked for', async () => {
    const client = await stage.spoken()
    const switched = FAULTS.toReversed().map((fault) => stage.proxy.inject(fault))
    const healed = stage.proxy.heal()
    await Promise.all([...switched, healed])
    await expectSoon(() => client.ended !== undefined)
    await stage.spoken()
  })

  test.each([
    [{ kind: 'latency', ms: -1 }, 'fault.ms'],
    [{ kind: 'latency', ms: Number.NaN }, 'fault.ms'],
    [{ kind: 'slow', bytesPerSecond: 0 }, 'fault.bytesPerSecond'],
    [{ kind: 'slow', bytesPerSecond: Infinity }, 'fault.bytesPerSecond'],
  ] as const)('%j is refused', async (fault, option) => {
    await expect(stage.proxy.inject(fault)).rejects.toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option })
    expect(stage.proxy.fault).toBeUndefined()
  })
})
