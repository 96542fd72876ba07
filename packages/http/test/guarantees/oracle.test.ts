import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import CachePolicy from 'http-cache-semantics'
import { cases } from '../../../../test/support/properties.ts'
import { formatHttpDate } from '../../src/fields/http-date.ts'
import { judge, type StoragePolicy } from '../../src/response/storable.ts'

const NOW = Date.UTC(2030, 0, 15, 12)
const APP: StoragePolicy = {
  ttl: undefined,
  negativeTtl: 0,
  storedBefore: false,
  staleWhileRevalidate: 0,
  staleIfError: 0,
  maxBodyBytes: 1000,
  unkeyedCredentials: false,
  targets: [],
  stripSetCookie: false,
  varyOn: [],
}

/** http-cache-semantics, at the same moment as we are. */
class Oracle extends CachePolicy {
  now(): number {
    return NOW
  }
}

interface Sample {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly unkeyedCredentials: boolean
}

/** How long the oracle would use the answer without asking again, ms; 0: not at all. */
function byOracle({ status, fields, unkeyedCredentials }: Sample): number {
  const request = { method: 'GET', url: '/', headers: unkeyedCredentials ? { authorization: 'Basic x' } : {} }
  const policy = new Oracle(request, { status, headers: fields }, { shared: true, cacheHeuristic: 0 })
  return policy.storable() ? policy.timeToLive() : 0
}

function byUs({ status, fields, unkeyedCredentials }: Sample): number {
  const head = { status, fields, before: {}, bodyLength: undefined }
  const judgement = judge(head, { ...APP, unkeyedCredentials }, NOW)
  return judgement.kind === 'store' ? judgement.lifetime.ttl : 0
}

/**
 * What both are asked. Left out is where the oracle is known to be wrong, or of another mind: names in capitals, negative numbers, a directive
 * twice, dates that are none (it guesses), statuses that it does not know, `proxy-revalidate` (it takes it for no lifetime), an age that
 * only `Date` shows (it ignores it), and Set-Cookie (it lets `public` overrule it; we never do).
 */
const seconds = fc.nat({ max: 100_000 })
const directives = fc.record(
  {
    'max-age': seconds,
    's-maxage': seconds,
    public: fc.constant(''),
    private: fc.constant(''),
    'no-store': fc.constant(''),
    'no-cache': fc.constant(''),
    'must-revalidate': fc.constant(''),
    'x-own': fc.constant('"a, no-store"'),
  },
  { requiredKeys: [] },
)
const cacheControl = directives.map((given) =>
  Object.entries(given)
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
    .join(', '),
)
const sample: fc.Arbitrary<Sample> = fc.record({
  status: fc.constantFrom(200, 203, 204, 300, 301, 308, 404, 410),
  unkeyedCredentials: fc.boolean(),
  fields: fc
    .record(
      {
        'cache-control': cacheControl,
        expires: fc.integer({ min: -1000, max: 100_000 }).map((ahead) => formatHttpDate(NOW + ahead * 1000)),
        age: fc.nat({ max: 1000 }).map(String),
      },
      { requiredKeys: [] },
    )
    .map((fields) => ({ ...fields, date: formatHttpDate(NOW) })),
})

describe('an independent oracle', () => {
  test('keeps the same answers in app mode, for the same time', () => {
    fc.assert(
      fc.property(sample, (one) => {
        expect(byUs(one)).toBe(Math.max(0, byOracle(one)))
      }),
      { numRuns: cases(20_000) },
    )
  })
})
