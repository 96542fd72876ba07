import {
  ClosedError,
  LoadFailedError,
  LoadTimeoutError,
  ReentrantLoadError,
  StoreAwayError,
  TooManyWaitersError,
  WaitTimeoutError,
} from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import { ResponseFailure } from '../src/response/errors.ts'
import { unanswered } from '../src/response/error-response.ts'

describe('an error of the engine as an answer', () => {
  test.each([
    [1, '1'],
    [1000, '1'],
    [1001, '2'],
    [90_000, '90'],
  ])('a key that cools down for %d ms is 503, and tells to try again in %s s', (retryAfter, seconds) => {
    const error = new LoadFailedError('http:secret', 3, retryAfter, { name: 'SqlError', code: 'E42' })
    expect(unanswered(error)).toMatchObject({ status: 503, statusCode: 503, headers: { 'retry-after': seconds } })
  })

  test('a failure without an answer to share, and a wait that was too long or one too many, are 503', () => {
    expect(unanswered(new ResponseFailure(500, undefined))).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    })
    for (const error of [new WaitTimeoutError('k', 1), new TooManyWaitersError('k')])
      expect(unanswered(error)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })

  test('a handler that never ended is 504', () => {
    expect(unanswered(new LoadTimeoutError('k', 1))).toMatchObject({ status: 504, headers: {} })
  })

  test('says nothing of the handler’s, and not the key', () => {
    const error = new LoadFailedError('http:secret', 3, 1, { name: 'SqlError', code: 'E42' })
    expect(JSON.stringify([unanswered(error), unanswered(error)?.message])).not.toMatch(/secret|Sql|E42/)
    expect(unanswered(error)?.cause).toBeUndefined()
  })

  test.each([
    new ClosedError(),
    new ReentrantLoadError(['a', 'a']),
    new StoreAwayError('read', 'k', { why: 'deadline', cause: undefined }),
    new TypeError('a bug'),
    'a string',
    undefined,
  ])('%s is the cache’s own trouble: the handler may run without it', (error) => {
    expect(unanswered(error)).toBeUndefined()
  })
})
