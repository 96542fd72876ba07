import { describe, expect, test } from '@jest/globals'
import { conditionsOf, fieldsOfNotModified, notModified } from '../src/response/conditional.ts'

const NOON = 'Tue, 15 Jan 2030 12:00:00 GMT'
const LATER = 'Tue, 15 Jan 2030 13:00:00 GMT'
const EARLIER = 'Tue, 15 Jan 2030 11:00:00 GMT'

const asked = (headers: Record<string, string>, fields: Record<string, string>, status = 200): boolean =>
  notModified(conditionsOf(headers), status, fields)

describe('If-None-Match', () => {
  test.each(['"a"', 'W/"a"', '"b", "a"', '*'])('%s matches the entity-tag "a"', (tags) => {
    expect(asked({ 'if-none-match': tags }, { etag: '"a"' })).toBe(true)
    expect(asked({ 'if-none-match': tags }, { etag: 'W/"a"' })).toBe(true)
  })

  test.each(['"b"', 'a', '', 'W/"b"'])('%j does not', (tags) => {
    expect(asked({ 'if-none-match': tags }, { etag: '"a"' })).toBe(false)
  })

  test('comes before If-Modified-Since', () => {
    const headers = { 'if-none-match': '"b"', 'if-modified-since': LATER }
    expect(asked(headers, { etag: '"a"', 'last-modified': NOON })).toBe(false)
  })
})

describe('If-Modified-Since', () => {
  test('is compared with Last-Modified, or with Date where there is none', () => {
    expect(asked({ 'if-modified-since': NOON }, { 'last-modified': NOON })).toBe(true)
    expect(asked({ 'if-modified-since': EARLIER }, { 'last-modified': NOON })).toBe(false)
    expect(asked({ 'if-modified-since': LATER }, { date: NOON })).toBe(true)
    expect(asked({ 'if-modified-since': LATER }, { 'last-modified': LATER, date: NOON })).toBe(true)
  })

  test('that is no date asks for nothing', () => {
    expect(asked({ 'if-modified-since': 'yesterday' }, { 'last-modified': NOON })).toBe(false)
  })
})

test('a request directive does not turn a 304 into a whole answer', () => {
  expect(asked({ 'if-none-match': '"a"', 'cache-control': 'no-cache' }, { etag: '"a"' })).toBe(true)
})

test.each([204, 301, 404, 500])('a stored %d is never 304', (status) => {
  expect(asked({ 'if-none-match': '*' }, { etag: '"a"' }, status)).toBe(false)
})

test('a 304 repeats what rules the stored copy, and nothing of its content', () => {
  const fields = {
    etag: '"a"',
    date: NOON,
    age: '1',
    'cache-control': 'public',
    'last-modified': NOON,
    'content-type': 'text/plain',
    'content-encoding': 'gzip',
    'x-other': '1',
  }
  expect(Object.keys(fieldsOfNotModified(fields)).toSorted()).toEqual(['age', 'cache-control', 'date', 'etag'])
  const { etag: _, ...untagged } = fields
  expect(fieldsOfNotModified(untagged)).toHaveProperty('last-modified')
})
