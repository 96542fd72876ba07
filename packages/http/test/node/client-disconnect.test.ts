import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { ClientDisconnect } from '../../src/node/client-disconnect.ts'

/** A response over a real socket, whose client waits for the answer or leaves. */
interface Held {
  readonly res: ServerResponse
  leave(): void
}

async function withHttp1(play: (held: Held) => Promise<void>): Promise<void> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }, (response) =>
    response.resume(),
  ).on('error', () => undefined)
  try {
    const [, res] = (await once(server, 'request')) as [unknown, ServerResponse]
    await play({ res, leave: () => void request.destroy() })
  } finally {
    server.close()
  }
}

async function withHttp2(play: (held: Held) => Promise<void>): Promise<void> {
  const server = createHttp2Server()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const request = client.request({ ':path': '/' }).on('error', () => undefined)
  request.resume()
  try {
    const [, res] = (await once(server, 'request')) as [unknown, ServerResponse]
    await play({ res, leave: () => request.close(8) })
  } finally {
    client.destroy()
    server.close()
  }
}

describe.each([
  ['HTTP/1', withHttp1],
  ['HTTP/2', withHttp2],
])('the disconnect of a client of %s', (_protocol, withClient) => {
  test('calls each listener once, and is known afterwards', () =>
    withClient(async ({ res, leave }) => {
      const disconnect = new ClientDisconnect(res)
      const calls: string[] = []
      const removed = (): void => void calls.push('removed')
      disconnect.addEventListener('abort', removed)
      disconnect.removeEventListener('abort', removed)
      disconnect.addEventListener('abort', () => void calls.push(disconnect.aborted ? 'listening' : 'too early'))
      expect(disconnect.aborted).toBe(false)
      disconnect.throwIfAborted()
      const over = once(res, 'close')
      leave()
      await over
      expect(calls).toEqual(['listening'])
      expect(disconnect.aborted).toBe(true)
      expect(disconnect.reason).toMatchObject({ name: 'AbortError', message: 'The client has disconnected' })
      expect(() => disconnect.throwIfAborted()).toThrow('The client has disconnected')
    }))

  test('is known at once where the client has left before', () =>
    withClient(async ({ res, leave }) => {
      const over = once(res, 'close')
      leave()
      await over
      const disconnect = new ClientDisconnect(res)
      expect(disconnect.aborted).toBe(true)
      expect(() => disconnect.throwIfAborted()).toThrow('The client has disconnected')
    }))

  test('is ignored once the request has its response', () =>
    withClient(async ({ res, leave }) => {
      const disconnect = new ClientDisconnect(res)
      disconnect.ignore()
      const over = once(res, 'close')
      leave()
      await over
      expect(disconnect.aborted).toBe(false)
    }))

  test.each(['before', 'after'] as const)('is not reported where the response was complete, watched %s that', (when) =>
    withClient(async ({ res }) => {
      const early = when === 'after' ? new ClientDisconnect(res) : undefined
      const over = once(res, 'close')
      res.end('whole')
      await over
      const disconnect = early ?? new ClientDisconnect(res)
      expect(disconnect.aborted).toBe(false)
      expect(() => disconnect.throwIfAborted()).not.toThrow()
    }),
  )
})
