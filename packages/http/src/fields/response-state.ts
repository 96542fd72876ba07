import type { ServerResponse } from 'node:http'
import { processWide } from '@cattlegrid/core/extend'

/**
 * Responses of which Node has got nothing, although they show that they have ended; with the properties that
 * showed it before.
 */
const shownAsEnded = processWide(
  'shown-as-ended/1',
  () => new WeakMap<ServerResponse, ReadonlyMap<string, PropertyDescriptor | undefined>>(),
)

const ENDED = { headersSent: true, writableEnded: true }

/**
 * Lets a response whose handler has ended it show that, although nothing of it was sent. `toNode`: also by
 * `finished`, which older libraries read. Node's own `write` and `end` read it, too, and refuse what comes
 * then: false where layers outside may still write the response.
 */
export function showAsEnded(res: ServerResponse, toNode: boolean = true): void {
  if (shownAsEnded.has(res)) return
  const before = new Map<string, PropertyDescriptor | undefined>()
  const shown = toNode ? { ...ENDED, finished: true, writableFinished: false } : ENDED
  for (const [name, value] of Object.entries(shown)) {
    before.set(name, Object.getOwnPropertyDescriptor(res, name))
    Reflect.defineProperty(res, name, { configurable: true, value })
  }
  shownAsEnded.set(res, before)
}

/** Undoes `showAsEnded`, before another response is sent. */
export function showAsOpen(res: ServerResponse): void {
  for (const [name, before] of shownAsEnded.get(res) ?? []) {
    Reflect.deleteProperty(res, name)
    if (before !== undefined) Reflect.defineProperty(res, name, before)
  }
  shownAsEnded.delete(res)
}

/**
 * True if Node has got the head, or a layer says so. A layer may define a `headersSent` of its own, which
 * then knows nothing of a head that was sent past that layer: @fastify/express defines one on each response.
 */
export function isHeadSent(res: ServerResponse): boolean {
  if (res.headersSent && !shownAsEnded.has(res)) return true
  if (!Object.hasOwn(res, 'headersSent')) return false
  return Reflect.get(Object.getPrototypeOf(res) as object, 'headersSent', res) === true
}

/** True if Node takes no more of the response, whatever layers and `showAsEnded` say. */
export function isEndedForNode(res: ServerResponse): boolean {
  return Reflect.get(Object.getPrototypeOf(res) as object, 'writableEnded', res) === true
}
