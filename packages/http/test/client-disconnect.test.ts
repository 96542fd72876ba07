import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { ClientDisconnect } from '../src/lookup/client-disconnect.ts'

interface Observed {
  readonly disconnect: ClientDisconnect
  /** What the listeners reported, in order. */
  readonly calls: readonly string[]
}

/** A response over a real socket, whose client waits for the answer or leaves; resolves when it is closed. */
async function closed(answer: (res: ServerResponse, leave: () => void) => void): Promise<Observed> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }, (response) =>
    response.resume(),
  ).on('error', () => undefined)
  try {
    const [, res] = (await once(server, 'request')) as [unknown, ServerResponse]
    const disconnect = new ClientDisconnect(res)
    const calls: string[] = []
    const removed = (): void => void calls.push('removed')
    disconnect.addEventListener('abort', removed)
    disconnect.removeEventListener('abort', removed)
    disconnect.addEventListener('abort', () => void calls.push(disconnect.aborted ? 'listening' : 'too early'))
    expect(disconnect.aborted).toBe(false)
    disconnect.throwIfAborted()
    const over = once(res, 'close')
    answer(res, () => request.destroy())
    await over
    return { disconnect, calls }
  } finally {
    server.close()
  }
}

describe('the disconnect of a client', () => {
  test('calls each listener once, and is known afterwards', async () => {
    const { disconnect, calls } = await closed((_, leave) => leave())
    expect(calls).toEqual(['listening'])
    expect(disconnect.aborted).toBe(true)
    expect(disconnect.reason).toMatchObject({ name: 'AbortError', message: 'The client has disconnected' })
    expect(() => disconnect.throwIfAborted()).toThrow('The client has disconnected')
  })

  test('is not reported where the response was complete', async () => {
    const { disconnect, calls } = await closed((res) => res.end('whole'))
    expect(calls).toEqual([])
    expect(disconnect.aborted).toBe(false)
    expect(() => disconnect.throwIfAborted()).not.toThrow()
  })
})
