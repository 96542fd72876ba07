import { appendMember, type Verdict } from './cache-status.ts'

/** The fields that a route sends to tell its clients what the cache did. */
export interface ReportRule {
  /** The name in `Cache-Status`; undefined: the field is not sent. */
  readonly cacheStatus: string | undefined
  /** `Cache-Status` has the parameter `key`. */
  readonly cacheStatusKey: boolean
  /** `X-Cache` is sent. */
  readonly xCache: boolean
  /** `Server-Timing` is sent. */
  readonly serverTiming: boolean
}

/** The report on one request. */
export interface Report {
  readonly verdict: Verdict
  /** The key that the request looked up, as a store has it; undefined: none. */
  readonly key?: string | undefined
  /** The time that the client waited for another load or for the start of its own handler, ms. */
  readonly waited?: number | undefined
  /** The time from the start of its own handler to the head of the response, ms. */
  readonly loadTime?: number | undefined
}

const X_CACHE = {
  hit: 'HIT',
  stale: 'STALE',
  collapsed: 'MISS',
  miss: 'MISS',
  revalidated: 'MISS',
  bypass: 'BYPASS',
} as const

export function addsReportFields({ cacheStatus, xCache, serverTiming }: ReportRule): boolean {
  return cacheStatus !== undefined || xCache || serverTiming
}

/**
 * `before` returns the value that the handler, an outer layer or a cache nearer the origin has given the
 * field: it stays, in front.
 */
export function reportFields(
  { cacheStatus, cacheStatusKey, xCache, serverTiming }: ReportRule,
  before: (name: string) => string | readonly string[] | undefined,
  report: Report,
): Record<string, string> {
  const { verdict } = report
  const key = cacheStatusKey ? report.key : undefined
  return {
    ...(cacheStatus === undefined
      ? {}
      : { 'cache-status': appendMember(before('cache-status'), cacheStatus, verdict, key) }),
    ...(xCache ? { 'x-cache': X_CACHE[verdict.kind] } : {}),
    ...(serverTiming ? { 'server-timing': serverTimingOf(before('server-timing'), report) } : {}),
  }
}

/** The metrics of W3C Server Timing: the kind of the response, and the times that are known. */
function serverTimingOf(
  before: string | readonly string[] | undefined,
  { verdict, waited = 0, loadTime }: Report,
): string {
  const metrics = [
    ...(before === undefined || before.length === 0 ? [] : [String(before)]),
    `cache;desc=${verdict.kind}`,
    ...(waited === 0 ? [] : [`wait;dur=${inTenths(waited)}`]),
    ...(loadTime === undefined ? [] : [`load;dur=${inTenths(loadTime)}`]),
  ]
  return metrics.join(', ')
}

function inTenths(time: number): number {
  return Math.round(time * 10) / 10
}
