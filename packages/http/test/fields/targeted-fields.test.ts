import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText } from '../../../../test/support/properties.ts'
import { effectiveDirectives } from '../../src/fields/targeted-fields.ts'

const TARGETS = ['my-cache-control', 'cdn-cache-control']

function said(fields: Record<string, string | string[]>): Record<string, string> | 'not targeted' {
  const { directives, targeted } = effectiveDirectives(fields, TARGETS)
  return targeted ? Object.fromEntries(directives) : 'not targeted'
}

describe('a targeted field (RFC 9213)', () => {
  test.each<[string, Record<string, string>]>([
    ['max-age=60', { 'max-age': '60' }],
    ['max-age=60, no-store', { 'max-age': '60', 'no-store': '' }],
    ['max-age=60;x=1 ,\tprivate;a;b="c"', { 'max-age': '60', private: '' }],
    ['no-store=?1', { 'no-store': '' }],
    ['no-store=?0', {}],
    ['max-age=1, max-age=2', { 'max-age': '2' }],
    ['max-age="60"', { 'max-age': '' }],
    ['max-age=60.5', { 'max-age': '' }],
    ['max-age=-1', { 'max-age': '-1' }],
    ['x=(1 "a" b);q=1, max-age=5', { x: '', 'max-age': '5' }],
  ])('%j is read', (field, directives) => {
    expect(said({ 'cdn-cache-control': field })).toEqual(directives)
  })

  test.each([
    '',
    ' ',
    'Max-Age=60',
    'max-age =60',
    'max-age=60,',
    'max-age=60 no-store',
    'max-age=',
    'a b',
    '=1',
    'max-age=6000000000000000',
  ])('%j cannot be read, and counts as none', (field) => {
    expect(said({ 'cdn-cache-control': field, 'cache-control': 'max-age=1' })).toBe('not targeted')
  })

  test('the first of the list that can be read wins; lines are one list', () => {
    expect(said({ 'cdn-cache-control': 'max-age=1', 'my-cache-control': ['max-age=2', 'no-store'] })).toEqual({
      'max-age': '2',
      'no-store': '',
    })
    expect(said({ 'cdn-cache-control': 'max-age=1', 'my-cache-control': 'MAX' })).toEqual({ 'max-age': '1' })
    expect(said({ 'surrogate-control': 'max-age=1' })).toBe('not targeted')
  })

  test('whatever stands in it, it is read or counts as none', () => {
    const text = fc.oneof(anyText(), fc.stringMatching(/^[a-z=",;()?:0-9 .-]*$/))
    fc.assert(fc.property(text, (field) => void said({ 'cdn-cache-control': field })))
  })
})
