import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { ClientDisconnect } from '../src/lookup/client-disconnect.ts'

interface Told {
  readonly departure: ClientDisconnect
  /** Who was told that the client has left. */
  readonly told: readonly string[]
}

/** A response over a real socket, whose client waits for the answer or leaves; resolves when it is closed. */
async function closed(answer: (res: ServerResponse, leave: () => void) => void): Promise<Told> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }, (response) =>
    response.resume(),
  ).on('error', () => undefined)
  try {
    const [, res] = (await once(server, 'request')) as [unknown, ServerResponse]
    const departure = new ClientDisconnect(res)
    const told: string[] = []
    const gone = (): void => void told.push('gone')
    departure.addEventListener('abort', gone)
    departure.removeEventListener('abort', gone)
    departure.addEventListener('abort', () => void told.push(departure.aborted ? 'listening' : 'too early'))
    expect(departure.aborted).toBe(false)
    departure.throwIfAborted()
    const over = once(res, 'close')
    answer(res, () => request.destroy())
    await over
    return { departure, told }
  } finally {
    server.close()
  }
}

describe('a client’s departure', () => {
  test('is told to whoever listens, and known afterwards', async () => {
    const { departure, told } = await closed((_, leave) => leave())
    expect(told).toEqual(['listening'])
    expect(departure.aborted).toBe(true)
    expect(departure.reason).toMatchObject({ name: 'AbortError', message: 'The client has disconnected' })
    expect(() => departure.throwIfAborted()).toThrow('The client has disconnected')
  })

  test('is none where the answer went out whole', async () => {
    const { departure, told } = await closed((res) => res.end('whole'))
    expect(told).toEqual([])
    expect(departure.aborted).toBe(false)
    expect(() => departure.throwIfAborted()).not.toThrow()
  })
})
