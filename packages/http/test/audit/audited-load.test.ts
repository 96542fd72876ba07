import { setImmediate } from 'node:timers/promises'
import { type Cache, createCache, type Load } from '@cattlegrid/core'
import { createManualRuntime, eventsDuring, type ManualRuntime, warningsDuring } from '@cattlegrid/testkit'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { Audit } from '../../src/audit/audit.ts'
import { type AuditedLoad, compareAudited } from '../../src/audit/audited-load.ts'
import type { RecordingResult } from '../../src/recorder/recording-result.ts'
import { HandlerTimes } from '../../src/road/handler-times.ts'
import type { SubrequestResponse } from '../../src/road/subrequest.ts'

const exchange = { place: '1 /page', pattern: '/page', target: '/page' }
const lifetime = { ttl: 60_000, staleWhileRevalidate: 0, staleIfError: 0 }

type StoreResult = RecordingResult & { readonly kind: 'store' }

function page(text: string, vary: readonly string[] = [], status = 200): StoreResult {
  const response = { status, fields: {}, removed: [], body: Buffer.from(text), initialAge: 0 }
  return { kind: 'store', response, lifetime, vary }
}

/** The answer to the anonymous request. */
function to(result: SubrequestResponse['result'], status?: number): SubrequestResponse {
  return { result, status }
}

let runtime: ManualRuntime
let cache: Cache
let stopLoad: AbortController

beforeEach(() => {
  runtime = createManualRuntime()
  cache = createCache({ runtime })
  stopLoad = new AbortController()
})
afterEach(() => cache.close())

interface Audited {
  readonly load: AuditedLoad
  readonly audit: Audit
  /** The names and the signals with which requests were sent. */
  readonly sent: (readonly string[])[]
  readonly signals: AbortSignal[]
}

function auditedBy(answer: (vary: readonly string[]) => Promise<SubrequestResponse>, stops = true): Audited {
  const audit = new Audit(cache, { rate: 1, stops, isDevelopment: false })
  const sent: (readonly string[])[] = []
  const signals: AbortSignal[] = []
  const load = { key: 'k', signal: stopLoad.signal, leased: true } as Load<never>
  const about = { record: undefined, forwarded: 'uri-miss', collapseFailed: false, unkeyedUrl: false } as const
  const task = { ...about, load, loadId: '1', times: new HandlerTimes(runtime) }
  const send = (vary: readonly string[], signal: AbortSignal): Promise<SubrequestResponse> => {
    sent.push(vary)
    signals.push(signal)
    return answer(vary)
  }
  return { load: { audit, at: exchange, runtime, task, send }, audit, sent, signals }
}

/** The result of the load, what was found, and what was warned of. */
async function play({ load }: Audited, own: RecordingResult): Promise<readonly [RecordingResult, unknown]> {
  let result: RecordingResult | undefined
  const events = await eventsDuring('cattlegrid:audit', async () => {
    await warningsDuring(
      'CATTLEGRID_AUDIT',
      async () => void (result = await compareAudited(load, Promise.resolve(own))),
    )
  })
  expect(events.length).toBeLessThan(2)
  const [event] = events as { readonly result?: string; readonly detail?: string }[]
  return [result ?? own, event?.detail ?? event?.result]
}

describe('the response of the client’s own handler', () => {
  test('is stored if another client gets the same', async () => {
    const own = page('a')
    expect(
      await play(
        auditedBy(async () => to(page('a'), 200)),
        own,
      ),
    ).toEqual([own, 'equal'])
  })

  test('is its own client’s if another client gets another one', async () => {
    const [result, found] = await play(
      auditedBy(async () => to(page('b'), 200)),
      page('a'),
    )
    expect(result).toEqual({ kind: 'unshareable', why: 'audit' })
    expect(found).toBe('the body, from byte 0 on (a letter)')
  })

  test('is stored nevertheless with onMismatch: warn', async () => {
    const own = page('a')
    const [result] = await play(
      auditedBy(async () => to(page('b'), 200), false),
      own,
    )
    expect(result).toBe(own)
  })

  test.each<[what: string, other: SubrequestResponse, detail: string]>([
    ['a login', to({ kind: 'unshareable', why: 'status' }, 302), 'the status (200 and 302)'],
    [
      'a 404',
      to({ kind: 'share', why: 'status', response: page('').response, vary: [] }, 404),
      'the status (200 and 404)',
    ],
  ])('is its own client’s if another client gets %s', async (_, other, detail) => {
    const [result, found] = await play(
      auditedBy(async () => other),
      page('a'),
    )
    expect([result, found]).toEqual([{ kind: 'unshareable', why: 'audit' }, detail])
  })

  test.each<[why: string, other: SubrequestResponse]>([
    [
      'the response to the other request is not stored (set-cookie)',
      to({ kind: 'unshareable', why: 'set-cookie' }, 200),
    ],
    [
      'the handler failed for the other request, with 500',
      to({ kind: 'fail', status: 500, response: undefined, vary: [] }, 500),
    ],
    ['another layer answered the other request, with 401', to({ kind: 'unreached' }, 401)],
    ['another layer answered the other request', to({ kind: 'unreached' })],
    ['the other request has another key', to({ kind: 'other-key' })],
    ['the cache was switched off meanwhile', to({ kind: 'switched-off' })],
    ['the handler did not end in time for the other request', to({ kind: 'aborted', cause: 'failure' })],
  ])('is stored where nothing can be compared: %s', async (why, other) => {
    const own = page('a')
    expect(
      await play(
        auditedBy(async () => other),
        own,
      ),
    ).toEqual([own, why])
  })

  test('is compared with one that the fields of its Vary select', async () => {
    const own = page('de', ['accept-language'])
    const audited = auditedBy(async (vary) => to(page(vary.includes('accept-language') ? 'de' : 'en'), 200))
    expect(await play(audited, own)).toEqual([own, 'equal'])
    expect(audited.sent).toEqual([[], ['accept-language']])
  })

  test('waits for the comparison no longer than 1 s', async () => {
    const own = page('a')
    const audited = auditedBy(
      () =>
        new Promise((resolve) => {
          const onAbort = (): void => resolve(to({ kind: 'aborted', cause: 'failure' }))
          void setImmediate().then(() => audited.signals[0]?.addEventListener('abort', onAbort))
        }),
    )
    const played = play(audited, own)
    await setImmediate()
    await setImmediate()
    await runtime.advance(999)
    expect(audited.signals[0]?.aborted).toBe(false)
    await runtime.advance(1)
    expect(await played).toEqual([own, 'the handler did not end in time for the other request'])
  })
})

test('a response that is not stored ends the other request, and is compared with nothing', async () => {
  const own: RecordingResult = { kind: 'unshareable', why: 'set-cookie' }
  const audited = auditedBy(async () => to(page('b'), 200))
  expect(await play(audited, own)).toEqual([own, undefined])
  expect(audited.signals[0]?.aborted).toBe(true)
})

test('the end of the load ends the other request', async () => {
  const own = page('a')
  const audited = auditedBy(() => new Promise(() => undefined))
  void compareAudited(audited.load, Promise.resolve(own))
  stopLoad.abort()
  expect(audited.signals[0]?.aborted).toBe(true)
})

test('a request that cannot be sent is no finding, and its place is audited again', async () => {
  const own = page('a')
  const audited = auditedBy(() => Promise.reject(new Error('a listener of the server has thrown')))
  expect(await play(audited, own)).toEqual([own, undefined])
  expect(audited.audit.takes(exchange, true)).toBe(true)
})

test('a response that was made while its place was stopped is its own client’s', async () => {
  const audited = auditedBy(async () => to(page('a'), 200))
  await warningsDuring('CATTLEGRID_AUDIT', () => audited.audit.end(exchange, { kind: 'different', where: 'the body' }))
  expect((await play(audited, page('a')))[0]).toEqual({ kind: 'unshareable', why: 'audit' })
})
