import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { reduceEncoding } from '../../src/fields/selecting-value.ts'
import { type HandlerInput, hiddenFields } from '../../src/request/handler-input.ts'
import { normaliseRequest } from '../../src/node/normalise.ts'

const keyedBy = (headers: readonly string[]) => ({ headers, host: undefined })
const KEYED: HandlerInput = {
  host: 'shop.example',
  scheme: 'https',
  path: '/',
  hidden: hiddenFields(keyedBy([]), true),
  keyed: [],
  added: {},
  rewrite: undefined,
}

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
    'x-forwarded-path',
    'x-forwarded-uri',
    'x-forwarded-ssl',
    'x-forwarded-protocol',
    'x-url-scheme',
    'front-end-https',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-host',
    'x-http-host-override',
    'x-original-host',
    'x-original-url',
    'x-original-uri',
    'x-rewrite-url',
    'x-http-method-override',
    'x-http-method',
    'x-method-override',
  ])('is without %s, in headers, headersDistinct and rawHeaders', async (name) => {
    const req = await requestWith({ Host: 'shop.example', [name]: 'evil', Accept: '*/*' })
    normaliseRequest(req, KEYED)
    expect(req.headers).toEqual({ host: 'shop.example', accept: '*/*', connection: 'close' })
    expect(req.rawHeaders).toEqual(['connection', 'close', 'Host', 'shop.example', 'Accept', '*/*'])
    expect({ ...req.headersDistinct }).toEqual({ host: ['shop.example'], accept: ['*/*'], connection: ['close'] })
  })

  test('has no field that an outer layer removed from one place, or added to one', async () => {
    const req = await requestWith({ Host: 'shop.example', 'X-Host': 'evil', 'X-Original-URI': '/evil' })
    delete req.headers['x-host']
    delete req.headers['x-original-uri']
    delete req.headersDistinct['x-original-uri']
    req.headers['x-original-url'] = '/admin'
    req.headersDistinct['range'] = ['bytes=0-1']
    normaliseRequest(req, KEYED)
    expect(req.headers).toEqual({ host: 'shop.example', connection: 'close' })
    expect(req.rawHeaders.join(' ')).not.toContain('evil')
    expect({ ...req.headersDistinct }).toEqual({ host: ['shop.example'], connection: ['close'] })
  })

  test('has one form of a field that a layer outside has changed, that of the key, and of a keyed one in any case', async () => {
    const req = await requestWith({ Host: 'shop.example', 'X-Tenant': 'evil', 'X-Kept': 'evil', 'X-Keyed': 'as it is' })
    req.headers['x-tenant'] = 'a'
    req.headers['x-added'] = 'b'
    delete req.headers['x-kept']
    normaliseRequest(req, { ...KEYED, keyed: ['x-keyed', 'x-absent'] })
    expect(req.headers).toMatchObject({ 'x-tenant': 'a', 'x-added': 'b', 'x-keyed': 'as it is' })
    expect(req.headersDistinct).toMatchObject({ 'x-tenant': ['a'], 'x-added': ['b'], 'x-keyed': ['as it is'] })
    expect(req.rawHeaders.slice(0, 2)).toEqual(['x-keyed', 'as it is'])
    expect(req.rawHeaders.join(' ')).toMatch(/x-tenant a.*x-added b/)
    expect(req.rawHeaders.join(' ')).not.toContain('evil')
  })

  test('has the forwarded host that the key was made of, and no other beside it', async () => {
    const req = await requestWith({ host: 'backend:3000', 'x-forwarded-host': 'shop.example, evil.example' })
    normaliseRequest(req, KEYED)
    expect(req.headers['x-forwarded-host']).toBe('shop.example')
    expect(req.headersDistinct['x-forwarded-host']).toEqual(['shop.example'])
  })

  test('has the host that the key was made of, in the spelling of the key, on one line', async () => {
    const spelled = await requestWith({ host: 'Shop.Example:443' })
    const behind = await requestWith({ host: 'evil.example', 'x-forwarded-host': 'SHOP.example' })
    normaliseRequest(spelled, { ...KEYED, host: 'Shop.Example:443' })
    normaliseRequest(behind, { ...KEYED, host: 'SHOP.example' })
    for (const { headers, headersDistinct, rawHeaders } of [spelled, behind]) {
      expect(headers.host).toBe('shop.example')
      expect(headersDistinct['host']).toEqual(['shop.example'])
      expect(rawHeaders.join(' ')).not.toMatch(/evil|Shop|SHOP/)
    }
    expect(behind.headers['x-forwarded-host']).toBe('shop.example')
  })

  test('keeps a value that looks like a dropped name', async () => {
    const req = await requestWith({ 'X-Note': 'range' })
    normaliseRequest(req, { ...KEYED, host: '' })
    expect(req.rawHeaders).toEqual(expect.arrayContaining(['X-Note', 'range']))
    expect(req.headersDistinct['x-note']).toEqual(['range'])
  })

  test('has the forwarded scheme that the key was made of, and no other', async () => {
    const [good, evil] = await Promise.all(
      ['https, http', 'javascript'].map((proto) => requestWith({ host: 'a', 'x-forwarded-proto': proto })),
    )
    if (good === undefined || evil === undefined) throw new Error('no requests')
    for (const req of [good, evil]) normaliseRequest(req, KEYED)
    expect(good.headers['x-forwarded-proto']).toBe('https')
    expect(good.rawHeaders).toEqual(expect.arrayContaining(['x-forwarded-proto', 'https']))
    expect(evil.headers['x-forwarded-proto']).toBeUndefined()
    expect(evil.rawHeaders).not.toContain('javascript')
  })

  test('keeps the fields in the key, and all fields without scrub', async () => {
    const keyed = await requestWith({ host: 'a', 'x-host': 'b', forwarded: 'host=c' })
    normaliseRequest(keyed, { ...KEYED, hidden: hiddenFields(keyedBy(['x-host']), true) })
    expect(keyed.headers).toMatchObject({ 'x-host': 'b' })
    expect(keyed.headers.forwarded).toBeUndefined()
    const site = { host: 'b:80', 'x-forwarded-host': 'c', 'x-forwarded-proto': 'd' }
    const whole = await requestWith(site)
    normaliseRequest(whole, { ...KEYED, hidden: hiddenFields(keyedBy(Object.keys(site)), true) })
    expect(whole.headers).toMatchObject(site)
    const open = await requestWith({ host: 'a', 'x-host': 'b', range: 'bytes=0-1' })
    normaliseRequest(open, { ...KEYED, hidden: hiddenFields(keyedBy([]), false) })
    expect(open.headers).toMatchObject({ 'x-host': 'b' })
    expect(open.headers.range).toBeUndefined()
  })

  test.each([true, false])('has the fixed host of the key and no other, with scrub: %s', async (scrub) => {
    const hidden = hiddenFields({ headers: [], host: 'shop.example' }, scrub)
    const req = await requestWith({ host: '127.0.0.1:3001', 'x-forwarded-host': 'evil.example' })
    normaliseRequest(req, { ...KEYED, hidden })
    expect(req.headers).toMatchObject({ host: 'shop.example' })
    expect(JSON.stringify([req.headers, req.rawHeaders])).not.toMatch(/127|evil/)
  })

  test('has the reduced codings that its client accepts', async () => {
    const req = await requestWith({ host: 'a', 'accept-encoding': 'gzip;q=0.8, deflate, br, x-unknown' })
    normaliseRequest(req, KEYED)
    expect(req.headers['accept-encoding']).toBe('br, gzip')
    expect(req.headersDistinct['accept-encoding']).toEqual(['br, gzip'])
  })
})

describe('codings', () => {
  test.each([
    ['gzip, deflate, br, zstd', 'br, gzip, zstd'],
    ['br;q=0, gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP ; Q=0.001', 'gzip'],
    ['*', 'br, gzip, zstd'],
    ['*;q=0', 'identity'],
    ['gzip;q=0, *', 'br, zstd'],
    ['deflate, identity;q=0.5', 'deflate'],
    ['deflate;q=0', 'identity'],
    ['identity', 'identity'],
    ['', 'identity'],
  ])('%j is %j', (accepted, reduced) => {
    expect(reduceEncoding(accepted)).toBe(reduced)
    expect(reduceEncoding(reduced)).toBe(reduced)
  })
})
