import { channel } from 'node:diagnostics_channel'
import type { Cache } from '@cattlegrid/core'
import type { Finding } from './finding.ts'

/** One audit of a cached route, as published to `cattlegrid:audit` of `node:diagnostics_channel`. */
export interface AuditEvent {
  readonly type: 'audit'
  /** The `name` of the cache. */
  readonly cache: string
  /** The pattern of the route; undefined for a cache that stands before all routes. */
  readonly route: string | undefined
  /** `equal`, `different`: what the comparison found. `not-run`: there was nothing to compare. */
  readonly result: Finding['kind']
  /** Where the responses differ, or why there was nothing to compare. Nothing of a response but a status. */
  readonly detail: string | undefined
}

const audits = channel('cattlegrid:audit')

export function publishAudit(cache: Pick<Cache, 'name'>, route: string | undefined, finding: Finding): void {
  if (!audits.hasSubscribers) return
  const detail = finding.kind === 'equal' ? undefined : finding.kind === 'different' ? finding.where : finding.why
  audits.publish({ type: 'audit', cache: cache.name, route, result: finding.kind, detail } satisfies AuditEvent)
}
