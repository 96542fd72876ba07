import type { IncomingHttpHeaders } from 'node:http'
import { processWide } from '@cattlegrid/core/extend'

/**
 * RFC 8586. A handler that forwards the fields of its request forwards this one too, so that its loop
 * is detected.
 */
const FIELD = 'cdn-loop'
/** The member of cattlegrid, with the random id of a load. */
const MEMBER = /(?:^|,)\s*cattlegrid;\s*load=([^\s,;]+)\s*(?=,|$)/g

/** The keys of the loads that run in this process, by the ids of the loads. A client cannot guess an id. */
const running = processWide('running-loads/1', () => new Map<string, string>())

/** Registers a running load, until the returned function is called. */
export function registerLoad(id: string, key: string): () => void {
  running.set(id, key)
  return () => {
    running.delete(id)
  }
}

/** The `CDN-Loop` that the handler of that load sees. */
export function cdnLoopField(headers: IncomingHttpHeaders, loadId: string): Readonly<Record<string, string>> {
  const before = headers[FIELD]
  return { [FIELD]: `${before === undefined ? '' : `${String(before)}, `}cattlegrid; load=${loadId}` }
}

/** True if the handler that loads this key sent the request, and so would wait for itself. */
export function isLoop(headers: IncomingHttpHeaders, key: string): boolean {
  const field = headers[FIELD]
  if (field === undefined) return false
  return [...String(field).matchAll(MEMBER)].some(([, id = '']) => running.get(id) === key)
}

/**
 * `CDN-Loop` without the loads' members, so that the loop ends: if the bypassed handler requests its own URL
 * again, that request waits for the first load, until a timeout. undefined: nothing is left of it.
 */
export function withoutLoopMembers(headers: IncomingHttpHeaders): ReadonlyMap<string, string | undefined> {
  const left = String(headers[FIELD] ?? '').replaceAll(MEMBER, '')
  return new Map([[FIELD, left.replace(/^\s*,\s*/, '') || undefined]])
}
