import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { normaliseLeader } from '../src/normalise.ts'

/** A real request, as Node's own parser makes it. */
async function requestWith(headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await new Promise((resolve, reject) => {
      server.once('request', (req, res) => {
        res.end()
        resolve(req)
      })
      const options = { host: '127.0.0.1', port, agent: false, headers: { connection: 'close', ...headers } }
      request(options, (res) => res.resume())
        .once('error', reject)
        .end()
    })
  } finally {
    server.close()
  }
}

describe('what a leader’s handler sees', () => {
  test.each([
    'if-none-match',
    'if-modified-since',
    'if-match',
    'if-unmodified-since',
    'if-range',
    'range',
    'forwarded',
    'x-forwarded-server',
    'x-forwarded-scheme',
    'x-forwarded-prefix',
    'x-forwarded-port',
    'x-forwarded-host',
    'x-host',
    'x-original-url',
    'x-rewrite-url',
    'x-http-method-override',
    'x-http-method',
    'x-method-override',
  ])('is without %s, in headers, headersDistinct and rawHeaders', async (name) => {
    const req = await requestWith({ Host: 'shop.example', [name]: 'evil', Accept: '*/*' })
    normaliseLeader(req, 'shop.example')
    expect(req.headers).toEqual({ host: 'shop.example', accept: '*/*', connection: 'close' })
    expect(req.rawHeaders).toEqual(['connection', 'close', 'Host', 'shop.example', 'Accept', '*/*'])
    expect({ ...req.headersDistinct }).toEqual({ host: ['shop.example'], accept: ['*/*'], connection: ['close'] })
  })

  test('has the forwarded host that the key was made of, and no other beside it', async () => {
    const req = await requestWith({ host: 'backend:3000', 'x-forwarded-host': 'shop.example, evil.example' })
    normaliseLeader(req, 'shop.example')
    expect(req.headers['x-forwarded-host']).toBe('shop.example')
    expect(req.headersDistinct['x-forwarded-host']).toEqual(['shop.example'])
  })

  test('keeps a value that looks like a dropped name', async () => {
    const req = await requestWith({ 'X-Note': 'range' })
    normaliseLeader(req, '')
    expect(req.rawHeaders).toEqual(expect.arrayContaining(['X-Note', 'range']))
    expect(req.headersDistinct['x-note']).toEqual(['range'])
  })
})
