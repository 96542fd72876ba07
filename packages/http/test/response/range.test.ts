import { describe, expect, test } from '@jest/globals'
import { selectRange } from '../../src/response/range.ts'

const select = (range: string, ifRange?: string, fields = {}, length = 10): unknown =>
  selectRange({ range, ifRange }, fields, length)

describe('a range of a stored body (RFC 9110 section 14.2)', () => {
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=2-5', 2, 5],
    ['Bytes=9-', 9, 9],
    ['bytes=-3', 7, 9],
    ['bytes=-99', 0, 9],
    ['bytes=5-99', 5, 9],
  ])('%s is from %d to %d', (range, from, to) => {
    expect(select(range)).toEqual({ from, to })
  })

  test.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])('%s lies outside', (range) => {
    expect(select(range)).toBe('unsatisfiable')
  })

  test.each(['', 'bytes', 'bytes=', 'bytes=-', 'bytes=5-2', 'bytes=0-1,3-4', 'bytes=a-b', 'lines=0-1', 'bytes=1e1-'])(
    '%j asks for the whole',
    (range) => {
      expect(select(range)).toBeUndefined()
    },
  )

  const day = (hour: string): string => `Tue, 15 Jan 2030 ${hour}:00:00 GMT`
  test.each([
    ['"a"', { etag: '"a"' }, true],
    ['"b"', { etag: '"a"' }, false],
    ['W/"a"', { etag: 'W/"a"' }, false],
    ['"a"', { etag: 'W/"a"' }, false],
    [day('10'), { 'last-modified': day('10'), date: day('12') }, true],
    [day('12'), { 'last-modified': day('12'), date: day('12') }, false],
    [day('11'), { 'last-modified': day('10'), date: day('12') }, false],
    ['nonsense', {}, false],
  ])('If-Range: %s against %j: %s', (ifRange, fields, same) => {
    expect(select('bytes=0-1', ifRange, fields) !== undefined).toBe(same)
  })

  test('nothing can be cut from nothing', () => {
    expect(select('bytes=0-', undefined, {}, 0)).toBe('unsatisfiable')
    expect(select('bytes=-5', undefined, {}, 0)).toBe('unsatisfiable')
  })
})
