import { createCache } from '@cattlegrid/core'
import { describe, expect, it } from '@jest/globals'
import { cachedHandler, type WebRouteOptions } from '../src/index.ts'
import type { Handler } from './support/streams.ts'
import { expectNoLeak, fieldsOf, type Name } from './support/users.ts'

const PAGE = 'http://shop.test/page'

const cachedBy = (handler: Handler, options: WebRouteOptions = {}): Handler =>
  cachedHandler(handler, { cache: createCache(), ttl: '30s', ...options })
const withFields = (fields: Record<string, string>, path = PAGE, init: RequestInit = {}): Request =>
  new Request(path, { ...init, headers: fields })
const seesAll: Handler = ({ url, method, headers }) => {
  const fields = ['host', 'x-forwarded-host', 'x-forwarded-proto', 'x-original-url', 'forwarded', 'range']
  return Response.json([url, method, fields.map((name) => headers.get(name))])
}

/** Answers to each user in turn, by what the cache cannot see. */
function inTurn(answer: (name: string) => Response): Handler {
  let runs = 0
  return () => answer((runs += 1) % 2 === 1 ? 'alice' : 'bruno')
}

describe('an answer to one client reaches no other client', () => {
  it.each([
    ['with Set-Cookie', { 'set-cookie': 'id=1' }],
    ['with Cache-Control: private', { 'cache-control': 'private' }],
    ['with Cache-Control: no-store', { 'cache-control': 'No-Store' }],
    ['with Vary: Cookie', { vary: 'Accept, Cookie' }],
    ['with Vary: Authorization', { vary: 'authorization' }],
    ['with Vary: *', { vary: '*' }],
    ['with WWW-Authenticate', { 'www-authenticate': 'Basic' }],
  ])('%s', async (_name, headers) => {
    const ended: string[] = []
    const respond = cachedBy(inTurn((name) => new Response(name, { headers: headers as Record<string, string> })))
    for (let turn = 0; turn < 4; turn += 1) ended.push(await (await respond(withFields({}))).text())
    expect(ended).toEqual(['alice', 'bruno', 'alice', 'bruno'])
  })

  it.each([401, 403, 407, 429])('with status %d', async (status) => {
    const respond = cachedBy(inTurn((name) => new Response(name, { status })))
    const pages = [await respond(withFields({})), await respond(withFields({}))].map((response) => response.text())
    expect(await Promise.all(pages)).toEqual(['alice', 'bruno'])
  })

  it('with Vary by the field that it reads', async () => {
    const handler: Handler = ({ headers }) => new Response(headers.get('x-name'), { headers: { vary: 'X-Name' } })
    await expectNoLeak(cachedBy(handler), (name) => withFields({ 'x-name': name }))
  })

  it('with Vary by a field of a gateway', async () => {
    const handler: Handler = ({ headers }) => new Response(headers.get('x-user-id'), { headers: { vary: 'x-user-id' } })
    await expectNoLeak(cachedBy(handler), (name) => withFields(fieldsOf(name)))
  })

  it('with the credentials of a request that bypasses the cache', async () => {
    const handler: Handler = ({ headers }) => new Response(headers.get('authorization'))
    await expectNoLeak(cachedBy(handler), (name) => withFields({ authorization: `Bearer ${name}` }))
  })

  it('with the credentials in the key', async () => {
    const handler: Handler = ({ headers }) => new Response(headers.get('authorization'))
    const respond = cachedBy(handler, { authorization: 'key' })
    await expectNoLeak(respond, (name) => withFields({ authorization: `Bearer ${name}` }))
  })

  it('with a cookie in the key beside one that is not', async () => {
    const handler: Handler = ({ headers }) => new Response(headers.get('cookie'))
    const respond = cachedBy(handler, { key: { cookies: ['theme'] } })
    await expectNoLeak(respond, (name) => withFields({ cookie: `theme=dark; user=${name}` }))
  })

  it('with the cookie in the key', async () => {
    const handler: Handler = ({ headers }) => new Response(headers.get('cookie'))
    const respond = cachedBy(handler, { key: { cookies: ['user'] } })
    await expectNoLeak(respond, (name) => withFields({ cookie: `user=${name}` }))
  })
})

describe('input that no key holds reaches no other client', () => {
  const of: readonly (readonly [string, (name: Name) => Request, WebRouteOptions?])[] = [
    ['a parameter', (name) => withFields({}, `${PAGE}?user=${name}`)],
    ['an unkeyed parameter', (name) => withFields({}, `${PAGE}?user=${name}&page=1`), { query: ['page'] }],
    ['an ignored parameter', (name) => withFields({}, `${PAGE}?page=1&u=${name}`), { query: { ignore: ['u'] } }],
    ['a parameter without a query', (name) => withFields({}, `${PAGE}?user=${name}`), { query: false }],
    ['a parameter twice', (name) => withFields({}, `${PAGE}?page=1&page=${name}`), { query: ['page'] }],
    ['a fragment', (name) => withFields({}, `${PAGE}#${name}`)],
    ['a path', (name) => withFields({}, `${PAGE}/${name}`)],
    ['a host', (name) => withFields({}, `http://${name}.test/page`)],
    ['a port', (name) => withFields({}, `http://shop.test:${name === 'alice' ? 81 : 82}/page?x`)],
    ['a Host field', (name) => withFields({ host: `${name}.test` })],
    ['a fixed host', (name) => withFields({ host: `${name}.test` }), { key: { host: 'shop.test' } }],
    ['another host than the fixed one', (name) => withFields({}, `http://${name}.test/`), { key: { host: 'a.test' } }],
    ['X-Forwarded-Host', (name) => withFields({ 'x-forwarded-host': `${name}.test` })],
    ['two values of X-Forwarded-Host', (name) => withFields({ 'x-forwarded-host': `shop.test, ${name}.test` })],
    ['X-Forwarded-Proto', (name) => withFields({ 'x-forwarded-proto': name })],
    ['Forwarded', (name) => withFields({ forwarded: `host=${name}.test` })],
    ['X-Original-URL', (name) => withFields({ 'x-original-url': `/${name}` })],
    ['a Range', (name) => withFields({ range: `bytes=0-1, ${name}` })],
    ['a user in the URL', (name) => withFields({}, PAGE, { referrer: `http://shop.test/${name}` })],
  ]

  it.each(of)('by %s', async (_name, requestOf, options = {}) => {
    await expectNoLeak(cachedBy(seesAll, options), requestOf)
  })

  it.each(['x-http-method-override', 'x-http-method', 'x-method-override'])('by %s', async (field) => {
    const handler: Handler = ({ headers, method }) => new Response(`${method} ${headers.get(field)}`)
    await expectNoLeak(cachedBy(handler), (name) => withFields({ [field]: name }))
  })

  it('by a body, which a GET cannot have', async () => {
    expect(() => withFields({}, PAGE, { body: 'alice' })).toThrow('cannot have body')
    const handler: Handler = async (request) => new Response(`page ${await request.text()}`)
    const pages = await expectNoLeak(cachedBy(handler), (name) => withFields({ 'content-length': `${name.length}` }))
    expect(new Set(pages)).toEqual(new Set(['page ']))
  })

  it('by the body of a POST', async () => {
    const handler: Handler = async (request) => new Response(await request.text())
    await expectNoLeak(cachedBy(handler), (name) => new Request(PAGE, { method: 'POST', body: name }))
  })

  it('by a refresh, which carries nothing of the client whose request starts it', async () => {
    const handler: Handler = (request) => Response.json([...request.headers, request.url])
    const respond = cachedBy(handler, { query: ['page'], ttl: 1, staleWhileRevalidate: '1h' })
    await expectNoLeak(respond, (name) => withFields({ cookie: name, 'x-user': name }, `${PAGE}?u=${name}`))
    await expectNoLeak(respond, (name) => withFields({ cookie: name, 'x-user': name }, `${PAGE}?u=${name}`))
  })
})
