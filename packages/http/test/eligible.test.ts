import { describe, expect, test } from '@jest/globals'
import { bypassOf, type Candidate, leadsNobody } from '../src/eligible.ts'

const candidate = (headers: Candidate['headers'], more: Partial<Candidate> = {}): Candidate => ({
  method: 'GET',
  originalMethod: undefined,
  target: '/a',
  headers,
  ...more,
})

describe('requests past the cache', () => {
  test.each<[string, Candidate['headers'], Partial<Candidate>?]>([
    ['method', {}, { method: 'POST' }],
    ['method', {}, { method: 'QUERY' }],
    ['method', {}, { method: 'GET', originalMethod: 'POST' }],
    ['authorization', { authorization: 'Bearer x' }],
    ['authorization', { authorization: '' }],
    ['upgrade', { upgrade: 'websocket' }],
    ['event-stream', { accept: 'text/html, Text/Event-Stream' }],
    ['absolute-form', {}, { target: 'http://evil.example/a' }],
    ['absolute-form', {}, { target: '*' }],
    ['absolute-form', {}, { target: '' }],
    ['absolute-form', {}, { target: '/a#b' }],
  ])('%s: %j %j', (why, headers, more = {}) => {
    expect(bypassOf(candidate(headers, more))).toBe(why)
  })

  test('GET and HEAD use it, whatever cookies and directives they carry', () => {
    const headers = { cookie: 'session=1', 'cache-control': 'no-cache, no-store, max-age=0', pragma: 'no-cache' }
    expect(bypassOf(candidate(headers))).toBeUndefined()
    expect(bypassOf(candidate(headers, { method: 'HEAD' }))).toBeUndefined()
  })
})

describe('requests that lead nobody', () => {
  test.each<[Candidate['headers'], Partial<Candidate>?]>([
    [{ 'content-length': '1' }],
    [{ 'content-length': 'x' }],
    [{ 'transfer-encoding': 'chunked' }],
    [{ 'x-http-method-override': 'DELETE' }],
    [{ 'x-http-method': 'DELETE' }],
    [{ 'x-method-override': 'DELETE' }],
    [{}, { method: 'DELETE', originalMethod: 'GET' }],
  ])('%j %j', (headers, more = {}) => {
    expect(leadsNobody(candidate(headers, more))).toBe(true)
  })

  test('a body of no bytes is none', () => {
    expect(leadsNobody(candidate({ 'content-length': '0' }))).toBe(false)
    expect(leadsNobody(candidate({}))).toBe(false)
  })
})
