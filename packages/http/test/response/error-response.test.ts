import {
  OverloadedError,
  ClosedError,
  isCattlegridError,
  LoadFailedError,
  LoadTimeoutError,
  ReentrantLoadError,
  StoreAwayError,
  TooManyWaitersError,
  WaitTimeoutError,
} from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import { ResponseFailure } from '../../src/response/errors.ts'
import { errorResponseFor, unavailable } from '../../src/response/error-response.ts'

function coolingAfter(code: string): LoadFailedError {
  return new LoadFailedError('http:secret', 1, 1, { name: 'Error', code })
}

describe('an error of the cache as a response', () => {
  test.each([
    [1, '1'],
    [1000, '1'],
    [1001, '2'],
    [90_000, '90'],
  ])('a key that cools down for %d ms is 503 with Retry-After: %s', (retryAfter, seconds) => {
    const error = new LoadFailedError('http:secret', 3, retryAfter, { name: 'SqlError', code: 'E42' })
    expect(errorResponseFor(error)).toMatchObject({ status: 503, statusCode: 503, headers: { 'retry-after': seconds } })
  })

  test('a failure without a response to share, a wait that is too long and a waiter too many are 503', () => {
    expect(errorResponseFor(new ResponseFailure(500, undefined))).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    })
    expect(errorResponseFor(new OverloadedError('k', 2500))).toMatchObject({
      status: 503,
      headers: { 'retry-after': '3' },
    })
    for (const error of [new WaitTimeoutError('k', 1), new TooManyWaitersError('k')])
      expect(errorResponseFor(error)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })

  test('a handler that does not end in time is 504', () => {
    expect(errorResponseFor(new LoadTimeoutError('k', 1))).toMatchObject({ status: 504, headers: {} })
  })

  test('names neither the handler’s own error nor the key', () => {
    const error = new LoadFailedError('http:secret', 3, 1, { name: 'SqlError', code: 'E42' })
    expect(JSON.stringify([errorResponseFor(error), errorResponseFor(error)?.message])).not.toMatch(/secret|Sql|E42/)
    expect(errorResponseFor(error)?.cause).toBeUndefined()
  })

  test.each([
    new ClosedError(),
    new ReentrantLoadError(['a', 'a']),
    new StoreAwayError('read', 'k', { why: 'deadline', cause: undefined }),
    new TypeError('a bug'),
    'a string',
    undefined,
  ])('%s concerns the cache alone: the handler may run without it', (error) => {
    expect(errorResponseFor(error)).toBeUndefined()
  })
})

describe('an error response', () => {
  test('asks no client to retry at once', () => {
    const error = new LoadFailedError('http:secret', 1, 0, { name: 'Error' })
    expect(errorResponseFor(error)?.headers).toEqual({ 'retry-after': '1' })
  })

  test.each([
    ['a load that took too long', new LoadTimeoutError('http:secret', 1)],
    ['a wait that took too long', new WaitTimeoutError('http:secret', 1)],
    ['one waiter too many', new TooManyWaitersError('http:secret')],
    ['a source that is overloaded', new OverloadedError('http:secret', 1)],
  ])('does not name the key that the error of %s holds', (_, error) => {
    const response = errorResponseFor(error)
    expect(JSON.stringify([response, response?.message, response?.stack])).not.toContain('secret')
  })

  test.each<[string, unknown]>([
    ['cooling down after the handler answered 500', coolingAfter('HTTP_500')],
    ['cooling down after the handler aborted its response', coolingAfter('HTTP_aborted')],
    ['cooling down after the handler did not answer in time', coolingAfter('CATTLEGRID_LOAD_TIMEOUT')],
    ['cooling down after the handler failed', coolingAfter('E42')],
    ['the handler answered 502', new ResponseFailure(502, undefined)],
    ['the handler aborted its response', new ResponseFailure('aborted', undefined)],
    ['the handler did not answer in time', new LoadTimeoutError('k', 1)],
    ['waited too long for the response to another request', new WaitTimeoutError('k', 1)],
    ['too many requests are waiting', new TooManyWaitersError('k')],
    ['too many other requests come first', new OverloadedError('k', 1)],
  ])('names its cause: %s', (cause, error) => {
    expect(errorResponseFor(error)?.message).toBe(`Temporarily unavailable; retry later (${cause}).`)
  })

  test('has the code of the engine’s error, and is not mistaken for it: it has neither its key nor its attempts', () => {
    const error = unavailable('CATTLEGRID_LOAD_FAILED', 1000)
    expect([error.code, isCattlegridError(error)]).toEqual(['CATTLEGRID_LOAD_FAILED', true])
    expect(isCattlegridError(error, 'CATTLEGRID_LOAD_FAILED')).toBe(false)
  })

  test('names no cause where none is known', () => {
    expect(unavailable('CATTLEGRID_LOAD_FAILED', 1000).message).toBe('Temporarily unavailable; retry later.')
  })
})
