import { describe, expect, test } from '@jest/globals'
import type { ResponseHead } from '../../src/response/response-head.ts'
import { judge, type Judgement, type StoragePolicy } from '../../src/response/storable.ts'

const NOW = Date.UTC(2030, 0, 15, 12)
const ROUTE: StoragePolicy = {
  ttl: 60_000,
  negativeTtl: 5000,
  storedBefore: false,
  staleWhileRevalidate: 1000,
  staleIfError: 2000,
  maxBodyBytes: 1000,
  unkeyedCredentials: false,
  targets: [],
  stripSetCookie: false,
  varyOn: [],
}
const ORIGIN: StoragePolicy = { ...ROUTE, ttl: undefined }

type Fields = Record<string, string | string[]>

function judged(status: number, fields: Fields, policy = ROUTE, more: Partial<ResponseHead> = {}): Judgement {
  return judge({ status, fields, before: {}, bodyLength: undefined, ...more }, policy, NOW)
}

const ttlOf = (judgement: Judgement): number | undefined =>
  judgement.kind === 'store' ? judgement.lifetime.ttl : undefined

describe('a route with a ttl', () => {
  test.each([200, 203, 204, 300, 301, 308])('stores %d for its ttl', (status) => {
    expect(ttlOf(judged(status, {}))).toBe(60_000)
  })

  test.each([404, 410])('stores %d for negativeTtl, and never longer than its ttl', (status) => {
    expect(ttlOf(judged(status, {}))).toBe(5000)
    expect(ttlOf(judged(status, {}, { ...ROUTE, ttl: 100 }))).toBe(100)
    expect(judged(status, {}, { ...ROUTE, negativeTtl: 0 })).toEqual({ kind: 'share', why: 'status' })
  })

  test('the lifetime that the answer declares neither shortens nor lengthens it', () => {
    expect(ttlOf(judged(200, { 'cache-control': 'public, max-age=0' }))).toBe(60_000)
    expect(ttlOf(judged(200, { 'cache-control': 'max-age=999' }))).toBe(60_000)
  })

  test.each([302, 303, 307])('stores %d only for as long as it says itself', (status) => {
    expect(judged(status, {})).toEqual({ kind: 'unshareable', why: 'status' })
    expect(ttlOf(judged(status, { 'cache-control': 'max-age=7' }))).toBe(7000)
  })

  test.each([201, 202, 205, 206, 304, 307, 399])('keeps %d for its own client', (status) => {
    expect(judged(status, {}).kind).toBe('unshareable')
  })

  test.each([400, 405, 409, 414, 418, 451])('shares %d with those who wait, and stores it never', (status) => {
    expect(judged(status, {})).toEqual({ kind: 'share', why: 'status' })
    expect(judged(status, { 'cache-control': 'max-age=60' }).kind).toBe('share')
  })

  test.each([401, 403, 407, 429, 431])('neither stores nor shares %d', (status) => {
    expect(judged(status, { 'cache-control': 'public, max-age=60' })).toEqual({ kind: 'unshareable', why: 'status' })
  })

  test.each([500, 502, 503, 599])('takes %d for a failure, whatever lifetime it declares', (status) => {
    expect(judged(status, { 'cache-control': 'max-age=60' })).toEqual({ kind: 'fail', share: true })
    expect(judged(status, { 'set-cookie': 'a=b' })).toEqual({ kind: 'fail', share: false })
  })

  test.each([0, -1, Number.NaN, 0.5])('a ttl of %d stores nothing', (ttl) => {
    expect(judged(200, {}, { ...ROUTE, ttl }).kind).toBe('unshareable')
  })
})

describe('app mode', () => {
  test('stores nothing that does not say so itself', () => {
    expect(judged(200, {}, ORIGIN)).toEqual({ kind: 'unshareable', why: 'no-freshness' })
    expect(judged(200, { 'cache-control': 'public' }, ORIGIN).kind).toBe('unshareable')
  })

  test.each([400, 404, 500, 503])('takes %d for its own client’s, until an answer of this URL was stored', (status) => {
    expect(judged(status, {}, ORIGIN)).toEqual({ kind: 'unshareable', why: 'status' })
    expect(judged(status, {}, { ...ORIGIN, storedBefore: true }).kind).toBe(status < 500 ? 'share' : 'fail')
  })

  test.each([200, 302, 404, 418])('stores %d with a lifetime of its own', (status) => {
    expect(ttlOf(judged(status, { 'cache-control': 's-maxage=30' }, ORIGIN))).toBe(30_000)
  })

  test.each([404, 500])('does not store %d for a lifetime that was declared before it', (status) => {
    const fields = { 'cache-control': 'max-age=30', 'cdn-cache-control': 'max-age=30' }
    const policy = { ...ORIGIN, targets: ['cdn-cache-control'] }
    const judgedWith = (...names: string[]): Judgement =>
      judged(status, fields, policy, { errorFields: new Set(names) })
    expect(judgedWith('cache-control', 'cdn-cache-control').kind).toBe('store')
    for (const names of [[], ['cache-control'], ['cdn-cache-control']])
      expect(judgedWith(...names)).toEqual({ kind: 'unshareable', why: 'status' })
  })

  test('keep({ ttl }) stores a 4xx, and no 5xx', () => {
    const kept = { ...ORIGIN, ttl: 5000, givenTtl: 5000 }
    expect(ttlOf(judged(418, {}, kept, { errorFields: new Set() }))).toBe(5000)
    expect(judged(500, {}, kept, { errorFields: new Set() })).toEqual({ kind: 'fail', share: true })
  })

  test('takes off how old the answer is already', () => {
    expect(ttlOf(judged(200, { 'cache-control': 'max-age=30', age: '10' }, ORIGIN))).toBe(20_000)
    expect(judged(200, { 'cache-control': 'max-age=30', age: '30' }, ORIGIN).kind).toBe('unshareable')
  })

  test('a status that must be understood, and is not, stays unstored', () => {
    expect(judged(299, { 'cache-control': 'max-age=30, must-understand' }, ORIGIN).kind).toBe('unshareable')
    expect(judged(200, { 'cache-control': 'max-age=30, must-understand' }, ORIGIN).kind).toBe('store')
  })

  test('the windows of the answer come before those of the options', () => {
    const said = judged(200, { 'cache-control': 'max-age=30, stale-while-revalidate=9' }, ORIGIN)
    expect(said).toMatchObject({ lifetime: { staleWhileRevalidate: 9000, staleIfError: 2000 } })
  })
})

describe('windows of a route', () => {
  test('are its own, in spite of what the answer names', () => {
    const said = judged(200, { 'cache-control': 'max-age=30, stale-while-revalidate=9' })
    expect(said).toMatchObject({ lifetime: { staleWhileRevalidate: 1000, staleIfError: 2000 } })
  })

  test.each(['must-revalidate', 'proxy-revalidate', 's-maxage=5'])('are closed by %s', (directive) => {
    const said = judged(200, { 'cache-control': directive })
    expect(said).toMatchObject({ kind: 'store', lifetime: { staleWhileRevalidate: 0, staleIfError: 0 } })
  })
})

describe('prohibitions', () => {
  test.each<[string, Fields]>([
    ['set-cookie', { 'set-cookie': 'a=b' }],
    ['set-cookie', { 'set-cookie': ['a=b', 'c=d'] }],
    ['no-store', { 'cache-control': 'NO-STORE' }],
    ['no-store', { 'cache-control': ['max-age=60', 'no-store'] }],
    ['private', { 'cache-control': 'Private="x-name"' }],
    ['private', { 'cache-control': 'public, private, s-maxage=60' }],
    ['no-cache', { 'cache-control': 'no-cache="set-cookie"' }],
    ['vary', { vary: 'accept, Cookie' }],
    ['vary', { vary: 'authorization' }],
    ['vary', { vary: ['a', 'user-agent'] }],
    ['vary', { vary: 'a,b,c,d,e,f,g' }],
    ['vary-star', { vary: 'accept, *' }],
    ['vary-star', { vary: ['accept', '*'] }],
    ['status', { 'www-authenticate': 'Basic' }],
    ['endless', { 'content-type': 'Text/Event-Stream; charset=utf-8' }],
    ['endless', { 'content-type': 'multipart/x-mixed-replace; boundary=x' }],
    ['too-large', { 'content-length': '1001' }],
  ])('%s: %j is for its own client alone, in both modes', (why, fields) => {
    expect(judged(200, fields)).toEqual({ kind: 'unshareable', why })
    expect(judged(200, { 'cache-control': 's-maxage=60', ...fields }, ORIGIN)).toEqual({ kind: 'unshareable', why })
  })

  test('a body at hand that is too large is seen before it goes out', () => {
    expect(judged(200, {}, ROUTE, { bodyLength: 1001 })).toEqual({ kind: 'unshareable', why: 'too-large' })
    expect(judged(200, {}, ROUTE, { bodyLength: 1000 }).kind).toBe('store')
  })

  test('cookies, prohibitions and a Vary of * count also where an outer layer set them', () => {
    expect(judged(200, {}, ROUTE, { outer: { 'set-cookie': 'a=b' } })).toEqual({
      kind: 'unshareable',
      why: 'set-cookie',
    })
    expect(judged(200, {}, ROUTE, { outer: { 'cache-control': 'no-store' } })).toEqual({
      kind: 'unshareable',
      why: 'no-store',
    })
    const understood = { 'cache-control': 'must-understand, no-store' }
    expect(judged(200, understood, ROUTE, { outer: understood }).kind).toBe('store')
    expect(judged(200, understood, ROUTE, { outer: { 'cache-control': 'no-store' } }).kind).toBe('unshareable')
    expect(judged(200, {}, ROUTE, { outer: { vary: '*' } })).toEqual({ kind: 'unshareable', why: 'vary-star' })
    expect(judged(200, {}, ROUTE, { outer: { vary: 'accept-encoding' } }).kind).toBe('store')
  })
})

describe('a response that declares a lifetime', () => {
  test.each([101, 103, 206, 304, 401])('is not stored when its status is %d', (status) => {
    const policy = { ...ORIGIN, storedBefore: true, staleWhileRevalidate: 0, staleIfError: 0 }
    expect(judged(status, { 'cache-control': 'public, max-age=60' }, policy).kind).toBe('unshareable')
  })
})
