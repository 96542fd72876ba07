import { onAbort } from '@cattlegrid/core/extend'
import type { LoadTask } from '../road/loaded-response.ts'
import { responseToRevalidateOf } from '../road/stale-response.ts'
import type { SendAnonymously, SubrequestLoader } from '../road/subrequest-loader.ts'
import type { RequestContext } from '../road/admission.ts'
import type { RecordingResult } from '../recorder/recording-result.ts'
import type { Route } from '../route/route.ts'
import type { Audit, AuditedExchange } from './audit.ts'
import { differenceOf, differentStatus, type Finding } from './finding.ts'
import type { SubrequestResponse } from '../road/subrequest.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'

/** How long a load waits for its audit when its own handler has ended, ms. */
const PATIENCE = 1000

/** A load by the handler of a client. The handler runs for an anonymous request of the same key, too. */
export interface AuditedLoad {
  readonly audit: Audit
  readonly at: AuditedExchange
  readonly runtime: Route['runtime']
  readonly task: LoadTask
  readonly send: SendAnonymously
}

/**
 * The audit of a load for which a client's own handler is about to run; undefined: there is none. A handler
 * that revalidates may confirm a stored response, and then there is nothing to compare.
 */
export function auditOfLoad(
  { exchange, route, sampled = false }: Pick<RequestContext, 'exchange' | 'route' | 'sampled'>,
  task: LoadTask,
  subrequests: SubrequestLoader,
): AuditedLoad | undefined {
  const { audit, runtime } = route
  if (audit === undefined || !task.load.leased || task.unkeyedUrl) return undefined
  if (responseToRevalidateOf(task.load, route) !== undefined || !audit.takes(exchange, sampled)) return undefined
  const { place, pattern, target } = exchange
  return { audit, at: { place, pattern, target }, runtime, task, send: subrequests.asAnotherClient(task) }
}

/**
 * Call it when the client's own handler runs. Its response is not delayed; the result of its recording is,
 * until it is compared.
 */
export async function compareAudited(
  audited: AuditedLoad,
  recording: Promise<RecordingResult>,
): Promise<RecordingResult> {
  const { audit, at } = audited
  audit.begin(at)
  const finding = await find(audited, recording).catch(() => undefined)
  await audit.end(at, finding)
  const own = await recording
  return own.kind === 'store' && audit.isStopped(at.place) ? { kind: 'unshareable', why: 'audit' } : own
}

/** Undefined: the response of the client's own handler is not stored, whatever the other one is. */
async function find(
  { runtime, task, send }: AuditedLoad,
  recording: Promise<RecordingResult>,
): Promise<Finding | undefined> {
  const { load, record } = task
  const stop = new AbortController()
  onAbort(load, () => stop.abort())
  const known = record?.vary ?? []
  const anonymous = send(known, stop.signal)
  const own = await recording
  if (own.kind !== 'store') stop.abort()
  const giveUp = runtime.schedule(() => stop.abort(), PATIENCE)
  try {
    let other = await anonymous
    if (own.kind !== 'store') return undefined
    // The first response of a URL tells by which fields it is selected.
    if (own.vary.some((name) => !known.includes(name))) other = await send(own.vary, stop.signal)
    return findingOf(own.response, other)
  } finally {
    giveUp()
  }
}

/** Compares a response that would be stored with that to another client. */
function findingOf(own: RecordedResponse, { result, status }: SubrequestResponse): Finding {
  switch (result.kind) {
    case 'store':
      return differenceOf(own, result.response)
    case 'share':
    case 'unshareable':
      // A login, or a refusal: this client has got more than another would.
      if (status !== undefined && status !== own.status) return differentStatus(own.status, status)
      return notRun(`the response to the other request is not stored (${result.why})`)
    case 'fail':
      return notRun(`the handler failed for the other request, with ${result.status}`)
    case 'unreached':
      return notRun(`another layer answered the other request${status === undefined ? '' : `, with ${status}`}`)
    case 'other-key':
      return notRun('the other request has another key')
    case 'switched-off':
      return notRun('the cache was switched off meanwhile')
    case 'mismatched':
    case 'aborted':
      return notRun('the handler did not end in time for the other request')
  }
}

function notRun(why: string): Finding {
  return { kind: 'not-run', why }
}
