import { describe, expect, test } from '@jest/globals'
import CachePolicy from 'http-cache-semantics'
import { formatHttpDate } from '../../src/fields/http-date.ts'
import { judge } from '../../src/response/storable.ts'

const NOW = Date.UTC(2030, 0, 15, 12)
const at = (seconds: number): string => formatHttpDate(NOW + seconds * 1000)
const APP = { ttl: undefined, negativeTtl: 0, storedBefore: false, staleWhileRevalidate: 0, staleIfError: 0 }
const REST = { maxBodyBytes: 1000, unkeyedCredentials: false, targets: [], stripSetCookie: false, varyOn: [] }

class Oracle extends CachePolicy {
  now(): number {
    return NOW
  }
}

type Fields = Readonly<Record<string, string>>

/** How many seconds the oracle would use an answer for; 0: not at all. */
function byOracle(fields: Fields, status: number): number {
  const response = { status, headers: { date: at(0), ...fields } }
  const policy = new Oracle({ method: 'GET', url: '/', headers: {} }, response, { shared: true, cacheHeuristic: 0 })
  return policy.storable() ? Math.max(0, policy.timeToLive()) / 1000 : 0
}

function byUs(fields: Fields, status: number): number {
  const head = { status, fields: { date: at(0), ...fields }, before: {}, bodyLength: undefined }
  const judgement = judge(head, { ...APP, ...REST }, NOW)
  return judgement.kind === 'store' ? judgement.lifetime.ttl / 1000 : 0
}

/** Each is left out of what the oracle is asked at random. A row that fails because the oracle was mended belongs there again. */
const FAULTS: readonly (readonly [fault: string, fields: Fields, status: number, oracle: number, right: number])[] = [
  ['a prohibition in capitals is not heard', { 'cache-control': 'NO-STORE, max-age=60' }, 200, 60, 0],
  ['a lifetime in capitals is not heard', { 'cache-control': 'MAX-AGE=60' }, 200, 0, 60],
  ['of two directives the last one counts', { 'cache-control': 'max-age=1, max-age=60' }, 200, 60, 1],
  ['a decimal is a number', { 'cache-control': 'max-age=60.5' }, 200, 60, 0],
  ['what follows a number is looked past', { 'cache-control': 'max-age=60a' }, 200, 60, 0],
  ['a date in a form of its own is one', { expires: '2030-01-15T12:01:00Z' }, 200, 60, 0],
  ['a date with another zone is one', { expires: at(60).replace('GMT', '+0000') }, 200, 60, 0],
  ['a Date in the past is no age', { 'cache-control': 'max-age=60', date: at(-50) }, 200, 60, 10],
  ['an unknown status is not stored, whatever it says of its lifetime', { 'cache-control': 'max-age=60' }, 418, 0, 60],
  ['proxy-revalidate is no lifetime', { 'cache-control': 'max-age=60, proxy-revalidate' }, 200, 0, 60],
  ['public lets a cookie be shared', { 'cache-control': 'public, max-age=60', 'set-cookie': 'a=1' }, 200, 60, 0],
]

describe('a fault of the oracle', () => {
  test.each(FAULTS)('%s', (_, fields, status, oracle, right) => {
    expect({ oracle: byOracle(fields, status), right: byUs(fields, status) }).toEqual({ oracle, right })
  })
})
