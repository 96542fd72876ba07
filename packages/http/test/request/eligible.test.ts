import { describe, expect, test } from '@jest/globals'
import {
  type Eligibility,
  hostsByScheme,
  ineligibleReason,
  type Candidate,
  unkeyedInputOf,
  originForm,
} from '../../src/request/eligible.ts'

const candidate = (headers: Candidate['headers'], more: Partial<Candidate> = {}): Candidate => ({
  method: 'GET',
  originalMethod: undefined,
  target: '/a',
  scheme: 'http',
  host: 'shop.example',
  headers,
  ...more,
})

const PLAIN: Eligibility = { authorization: 'bypass', cookies: 'ignore', hosts: undefined }

describe('requests that bypass the cache', () => {
  test.each<[string, Candidate['headers'], Partial<Candidate>?]>([
    ['method', {}, { method: 'POST' }],
    ['method', {}, { method: 'QUERY' }],
    ['method', {}, { method: 'GET', originalMethod: 'POST' }],
    ['authorization', { authorization: 'Bearer x' }],
    ['authorization', { authorization: '' }],
    ['upgrade', { upgrade: 'websocket' }],
    ['event-stream', { accept: 'text/html, Text/Event-Stream' }],
    ['no-path', {}, { target: '*' }],
    ['no-path', {}, { target: '' }],
  ])('%s: %j %j', (why, headers, more = {}) => {
    expect(ineligibleReason(candidate(headers, more), PLAIN)).toBe(why)
  })

  test('GET and HEAD use the cache, whatever cookies and directives they carry', () => {
    const headers = { cookie: 'session=1', 'cache-control': 'no-cache, no-store, max-age=0', pragma: 'no-cache' }
    expect(ineligibleReason(candidate(headers), PLAIN)).toBeUndefined()
    expect(ineligibleReason(candidate(headers, { method: 'HEAD' }), PLAIN)).toBeUndefined()
  })
})

describe('requests with unkeyed input', () => {
  test.each<['body' | 'method-override', Candidate['headers'], Partial<Candidate>]>([
    ['body', { 'content-length': '1' }, {}],
    ['body', { 'content-length': 'x' }, {}],
    ['body', { 'transfer-encoding': 'chunked' }, {}],
    ['method-override', { 'x-http-method-override': 'DELETE' }, {}],
    ['method-override', { 'x-http-method': 'DELETE' }, {}],
    ['method-override', { 'x-method-override': 'DELETE' }, {}],
    ['method-override', {}, { method: 'DELETE', originalMethod: 'GET' }],
  ])('%s: %j %j', (input, headers, more) => {
    expect(unkeyedInputOf(candidate(headers, more))).toBe(input)
  })

  test('an empty body is no input', () => {
    expect(unkeyedInputOf(candidate({ 'content-length': '0' }))).toBeUndefined()
    expect(unkeyedInputOf(candidate({}))).toBeUndefined()
  })
})

describe('the eligibility rules of a route', () => {
  test('a cookie is ignored, unless the route bypasses cookies', () => {
    const withCookie = candidate({ cookie: 'a=1' })
    expect(ineligibleReason(withCookie, PLAIN)).toBeUndefined()
    expect(ineligibleReason(withCookie, { ...PLAIN, cookies: 'bypass' })).toBe('cookie')
  })

  test('a host that is not listed bypasses the cache, whatever its case', () => {
    const listed: Eligibility = { ...PLAIN, hosts: hostsByScheme(['shop.example']) }
    expect(ineligibleReason(candidate({}, { host: 'SHOP.example' }), listed)).toBeUndefined()
    expect(ineligibleReason(candidate({}, { host: 'evil.example' }), listed)).toBe('host')
    expect(ineligibleReason(candidate({}, { host: 'shop.example:8080' }), listed)).toBe('host')
  })

  test.each(['key', 'declared', 'share'] as const)('credentials use the cache where they mean %s', (authorization) => {
    expect(ineligibleReason(candidate({ authorization: 'Bearer x' }), { ...PLAIN, authorization })).toBeUndefined()
  })
})

describe('the origin form of a request-target', () => {
  test.each([
    ['http://evil.example/a?b=1', '/a?b=1'],
    ['HTTPS://evil.example:8080/a', '/a'],
    ['http://evil.example', '/'],
    ['http://evil.example?b', '/?b'],
    ['/a#b', '/a'],
    ['http://evil.example/a#b', '/a'],
    ['/a?u=http://x/y', '/a?u=http://x/y'],
    ['//evil.example/a', '//evil.example/a'],
    ['*', '*'],
  ])('%s is %s', (target, form) => {
    expect(originForm(target)).toBe(form)
  })
})
