import { describe, expect, test } from '@jest/globals'
import {
  conditionsOf,
  fieldsOfContent,
  fieldsOfWhole,
  notModified,
  withoutFields,
} from '../../src/response/conditional.ts'

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

describe('what a shorter answer repeats of the whole one', () => {
  const fields = {
    etag: '"a"',
    date: NOON,
    age: '1',
    'cache-control': 'public',
    'cdn-cache-control': 'max-age=9',
    expires: NOON,
    'last-modified': NOON,
    'content-type': 'text/plain',
    'content-encoding': 'gzip',
    'content-digest': 'sha-256=:AAAA:',
    'repr-digest': 'sha-256=:AAAA:',
    'access-control-allow-origin': '*',
    'x-other': '1',
  }

  test('(304) is all but its content, and its date where it has a tag', () => {
    const lifetimes = ['cache-control', 'cdn-cache-control', 'expires']
    expect(Object.keys(withoutFields(fields, fieldsOfContent(fields))).toSorted()).toEqual(
      ['access-control-allow-origin', 'age', 'date', 'etag', 'x-other', ...lifetimes].toSorted(),
    )
    const { etag: _, ...untagged } = fields
    expect(withoutFields(untagged, fieldsOfContent(untagged))).toHaveProperty('last-modified')
  })

  test('(416) is all but its content, its validators and its lifetime', () => {
    expect(Object.keys(withoutFields(fields, fieldsOfWhole(fields))).toSorted()).toEqual(
      ['access-control-allow-origin', 'age', 'date', 'x-other'].toSorted(),
    )
  })
})
