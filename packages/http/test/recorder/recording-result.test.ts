import { describe, expect, test } from '@jest/globals'
import {
  abortedResult,
  type BodyFacts,
  type JudgedResponse,
  type RecordingResult,
  recordingResult,
  type ResultRules,
} from '../../src/recorder/recording-result.ts'
import type { Lifetime } from '../../src/response/lifetime.ts'
import type { Judgement } from '../../src/response/storable.ts'

const NOW = Date.UTC(2030, 0, 15, 12)
const LIFETIME: Lifetime = { ttl: 2000, staleWhileRevalidate: 0, staleIfError: 0 }
const STORE: Judgement = { kind: 'store', lifetime: LIFETIME }
const SHARE: Judgement = { kind: 'share', why: 'status' }
const SHARED_FAILURE: Judgement = { kind: 'fail', share: true }
const PRIVATE_FAILURE: Judgement = { kind: 'fail', share: false }
const OPEN: BodyFacts = { bytes: Buffer.from('ab'), ended: false, exceeded: undefined }
const WHOLE: BodyFacts = { bytes: Buffer.from('abc'), ended: true, exceeded: undefined }
const RULES: ResultRules = { strip: [] }

function response(judgement: Judgement, kind: JudgedResponse['kind'] = 'sent', length = '3'): JudgedResponse {
  const status = judgement.kind === 'fail' ? 500 : 200
  const head = { status, fields: { 'content-length': length }, before: {}, bodyLength: undefined }
  return { kind, head, judgement }
}

const result = (judged: JudgedResponse, body: BodyFacts, rules = RULES): RecordingResult | undefined =>
  recordingResult(judged, body, rules, NOW)

describe('the result of a recording', () => {
  test.each([
    ['storable', response(STORE)],
    ['shareable', response(SHARE)],
    ['a shareable failure', response(SHARED_FAILURE)],
    ['a withheld failure', response(PRIVATE_FAILURE, 'withheld')],
    ['withheld and unshareable', response({ kind: 'unshareable', why: 'handler' }, 'withheld')],
  ])('is not certain before the end of a response that is %s', (_, judged) => {
    expect(result(judged, OPEN)).toBeUndefined()
    expect(result(judged, WHOLE)).toBeDefined()
  })

  test('is certain at the head of a response that is unshareable, or a failure for its client only', () => {
    const unshareable: Judgement = { kind: 'unshareable', why: 'set-cookie' }
    expect(result(response(unshareable), OPEN)).toEqual(unshareable)
    expect(result(response(PRIVATE_FAILURE), OPEN)).toMatchObject({ kind: 'fail', response: undefined })
  })

  test.each([
    ['maxBodyBytes', false],
    ['maxCaptureBytes', true],
  ] as const)('says by %s whether a body is too large for the moment only', (exceeded, temporary) => {
    const body = { bytes: Buffer.alloc(0), ended: false, exceeded }
    expect(result(response(STORE), body)).toEqual({ kind: 'unshareable', why: 'too-large', temporary })
    expect(result(response(SHARED_FAILURE), body)).toMatchObject({ kind: 'fail', response: undefined })
  })

  test('is an aborted response where the length is not the declared one, unless the body is the stored one', () => {
    expect(result(response(STORE, 'sent', '4'), WHOLE)).toEqual({ kind: 'aborted', cause: 'failure' })
    expect(result(response(STORE, 'revalidated', '4'), WHOLE)?.kind).toBe('store')
  })

  test('has what is left of a lifetime that began with the head, in whole seconds', () => {
    const since = (ago: number): Judgement => ({ kind: 'store', lifetime: { ...LIFETIME, since: NOW - ago } })
    expect(result(response(since(1999)), WHOLE)).toMatchObject({ kind: 'store', lifetime: { ttl: 1000 } })
    expect(result(response(since(2000)), WHOLE)).toEqual({ kind: 'unshareable', why: 'no-freshness' })
  })

  test('has the defaults where the response is stored, and not where it is shared', () => {
    const rules = { ...RULES, defaults: { 'cache-control': 'no-cache', 'content-length': '9' } }
    const [stored, shared] = [result(response(STORE), WHOLE, rules), result(response(SHARE), WHOLE, rules)]
    expect(stored).toMatchObject({ response: { fields: { 'cache-control': 'no-cache' } } })
    expect(stored).not.toMatchObject({ response: { fields: { 'content-length': '9' } } })
    expect(shared).not.toMatchObject({ response: { fields: { 'cache-control': 'no-cache' } } })
  })

  test('of an aborted response is a failure only where the handler had failed', () => {
    expect(abortedResult(undefined, 'disconnect')).toEqual({ kind: 'aborted', cause: 'disconnect' })
    expect(abortedResult(response(STORE), 'failure')).toEqual({ kind: 'aborted', cause: 'failure' })
    expect(abortedResult(response(SHARED_FAILURE), 'disconnect')).toMatchObject({ kind: 'fail', status: 500 })
  })
})
