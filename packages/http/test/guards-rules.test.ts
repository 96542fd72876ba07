import { LoadFailedError, LoadTimeoutError, TooManyWaitersError, WaitTimeoutError } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import { unanswered } from '../src/response/error-response.ts'
import { requestKey } from '../src/request/request-key.ts'
import { judge, type StoragePolicy } from '../src/response/storable.ts'

const appMode: StoragePolicy = {
  ttl: undefined,
  negativeTtl: 5000,
  proven: true,
  staleWhileRevalidate: 0,
  staleIfError: 0,
  maxBodyBytes: 1000,
  authorized: false,
  targets: [],
  stripSetCookie: false,
  varyOn: [],
}

describe('an answer that declares a lifetime', () => {
  test.each([101, 103, 206, 304, 401])('is not stored when its status is %d', (status) => {
    const head = { status, fields: { 'cache-control': 'public, max-age=60' }, before: {}, bodyLength: undefined }
    expect(judge(head, appMode, 0).kind).toBe('own')
  })
})

describe('the parts of a key', () => {
  const key = (target: string, layer = ''): string | undefined =>
    requestKey({ scheme: 'http', host: 'shop.example', target, layer, decodesPath: false })

  test('cannot be shifted into one another by what separates them', () => {
    const keys = ['/a:b', '/a?b:', '/a?:b', '/a:?b', '/a:0:b', '/a?0:b'].map((target) => key(target))
    keys.push(key('/a', '4:http'), key('/a', ':http'))
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('an answer in the place of a value', () => {
  test('asks nobody to come back in no time', () => {
    const error = new LoadFailedError('http:secret', 1, 0, { name: 'Error' })
    expect(unanswered(error)?.headers).toEqual({ 'retry-after': '1' })
  })

  test.each([
    ['a load that took too long', new LoadTimeoutError('http:secret', 1)],
    ['a wait that took too long', new WaitTimeoutError('http:secret', 1)],
    ['one waiter too many', new TooManyWaitersError('http:secret')],
  ])('does not tell the key that the error of %s names', (_, error) => {
    const answer = unanswered(error)
    expect(JSON.stringify([answer, answer?.message, answer?.stack])).not.toContain('secret')
  })
})
