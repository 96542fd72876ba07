import { LoadTimeoutError, type Lookup, WaitTimeoutError } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import { stepAfterHandler, stepWithoutHandler, type HandledRequest } from '../../src/road/final-step.ts'
import { OWN_RESPONSE } from '../../src/road/loaded-response.ts'
import type { RequestResult } from '../../src/road/request-lookup.ts'
import { NoSharedResult, ResponseFailure } from '../../src/response/errors.ts'
import type { RecordedResponse } from '../../src/response/recorded-response.ts'

const RESPONSE: RecordedResponse = { status: 200, fields: {}, removed: [], body: Buffer.from('one'), initialAge: 0 }
const HEAD = { status: 503, fields: {}, before: {}, bodyLength: 0 }
const recorder: HandledRequest['recorder'] = {
  revalidated: undefined,
  sent: false,
  ended: false,
  mismatched: false,
  withheld: undefined,
  status: undefined,
}
const handled: HandledRequest = { recorder, timedOutBeforeKnown: false, disconnected: false }
const timeout = { error: new LoadTimeoutError('k', 1000) }

function found(status: 'loaded' | 'stale', value: RecordedResponse | typeof OWN_RESPONSE = RESPONSE): RequestResult {
  const lookup = { value, status, from: 'store', role: 'leader', age: 0, freshFor: 0, foundStale: false, waited: 0 }
  return { lookup: { ...lookup, outcome: undefined, refresh: undefined } as Lookup<typeof value> }
}

describe('after its own handler, a request', () => {
  test.each<[string, Partial<HandledRequest['recorder']>, Partial<HandledRequest>, RequestResult, string]>([
    ['whose response was passed on gets nothing more', { sent: true, ended: true }, {}, found('loaded'), 'nothing'],
    [
      'whose response outlasts its load gets nothing more',
      { sent: true },
      { timedOutBeforeKnown: true },
      timeout,
      'nothing',
    ],
    ['whose response has begun and takes too long is cut', { sent: true }, {}, timeout, 'destroy'],
    ['whose 304 confirmed the entry gets that', { revalidated: RESPONSE }, {}, found('loaded'), 'revalidated'],
    ['whose client left gets nothing', {}, { disconnected: true }, found('stale'), 'nothing'],
    ['that failed gets the stale response', { status: 503 }, {}, found('stale'), 'looked-up'],
    ['whose 304 did not match gets the new response', { mismatched: true }, {}, found('loaded'), 'revalidated'],
    [
      'whose 304 did not match, with nothing new, fails',
      { mismatched: true, status: 304 },
      {},
      found('loaded', OWN_RESPONSE),
      'error',
    ],
    [
      'that failed gets its own failure where nothing replaces it',
      { withheld: { head: HEAD, body: Buffer.alloc(0) } },
      {},
      {},
      'complete',
    ],
    ['that sent nothing in time gets an error', {}, {}, timeout, 'error'],
    ['whose lease was lost goes on', {}, {}, { error: new Error('refused') }, 'nothing'],
  ])('%s', (_title, facts, request, result, kind) => {
    const step = stepAfterHandler({ ...handled, ...request, recorder: { ...recorder, ...facts } }, result)
    expect(step.kind).toBe(kind)
  })
})

describe('without its own handler, a request', () => {
  const request = {
    headers: {},
    knownShareable: true,
    timedOutBeforeKnown: false,
    disconnected: false,
    bypassReason: 'head',
  } as const
  const otherVariant = { ...RESPONSE, selectedBy: { accept: 'text/html' } }
  const waited = { error: new WaitTimeoutError('k', 1000) }
  test.each<
    [string, Partial<typeof request> | { knownShareable: false } | { disconnected: true }, RequestResult, object]
  >([
    ['gets what its lookup brought', {}, found('loaded'), { kind: 'looked-up' }],
    [
      'runs its handler where that is for another client',
      {},
      found('loaded', otherVariant),
      { kind: 'bypass', why: 'collapsed' },
    ],
    [
      'runs its handler where there is nothing to share',
      {},
      { error: new NoSharedResult('x') },
      { kind: 'bypass', why: 'head' },
    ],
    [
      'runs its handler after a wait at a URL that is not known to be shareable',
      { knownShareable: false },
      waited,
      { kind: 'bypass', why: 'head' },
    ],
    ['gets an error after a wait elsewhere', {}, waited, { kind: 'error' }],
    ['shares the failure of another', {}, { error: new ResponseFailure(500, RESPONSE) }, { kind: 'shared' }],
    [
      'gets an error where that failure is of another variant',
      {},
      { error: new ResponseFailure(500, otherVariant) },
      { kind: 'error' },
    ],
    ['runs its handler where only the cache failed', {}, { error: new Error('bug') }, { kind: 'pass' }],
    ['gets nothing once its client has left', { disconnected: true }, found('loaded'), { kind: 'nothing' }],
  ])('%s', (_title, facts, result, step) => {
    expect(stepWithoutHandler({ ...request, ...facts }, result)).toMatchObject(step)
  })
})
