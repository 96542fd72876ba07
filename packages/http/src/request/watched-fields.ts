import type { IncomingHttpHeaders } from 'node:http'
import { inspect } from 'node:util'
import { processWide } from '@cattlegrid/core/extend'
import type { PropertyObserver } from './watched-object.ts'

type Stop = () => void

type Report = PropertyObserver['onRead']

/** Of all copies of this package: what one reads for itself is no read for another one's layer. */
const state = processWide('watched-fields/1', () => ({
  reporting: true,
  /** The observers of absent fields, by the object of the fields; nested layers share one set. */
  absences: new WeakMap<object, { readonly before: object | null; readonly reports: Set<Report> }>(),
  /**
   * The prototypes of watched objects, by their original prototype. Few and shared, so that watched objects
   * share their shapes.
   */
  prototypes: new WeakMap<object, object>(),
}))
const { absences, prototypes } = state
const NONE = Object.freeze(Object.create(null) as object)

/**
 * Reports the reads of these request fields, present or absent, to `observer` until the returned function is
 * called. The object keeps its own keys, because a copy of it must be the same: `new Headers(req.headers)`
 * copies symbols and keys that are not enumerable, too.
 */
export function watchFields(
  headers: object,
  names: readonly string[],
  { onRead }: Pick<PropertyObserver, 'onRead'>,
): Stop {
  if (names.length === 0 || !Object.isExtensible(headers)) return () => {}
  let stopped = false
  const report: Report = (name, value, callee) =>
    stopped || !state.reporting || !names.includes(name) ? value : onRead(name, value, callee)
  const present = names.filter((name) => Object.hasOwn(headers, name))
  const stops = [watchAbsences(headers, report), ...present.map((name) => watchPresent(headers, name, report))]
  return () => {
    stopped = true
    for (const stop of stops) stop()
  }
}

/**
 * Reads a field that may be watched, and reports nothing: for code on whose result the response does
 * not depend.
 */
export function readUnreported<Name extends string>(
  headers: IncomingHttpHeaders,
  name: Name,
): IncomingHttpHeaders[Name] {
  return unreported(() => headers[name])
}

/** Copies fields of which some may be watched, and reports nothing. */
export function copyUnreported(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return unreported(() => ({ ...headers }))
}

/** Reads what may be watched, and reports nothing. */
export function unreported<T>(read: () => T): T {
  state.reporting = false
  try {
    return read()
  } finally {
    state.reporting = true
  }
}

/**
 * Replaces a present field by an accessor that reports reads. Stopping leaves it if another layer has
 * redefined the field.
 */
function watchPresent(headers: object, name: string, report: Report): Stop {
  let own = Object.getOwnPropertyDescriptor(headers, name)
  if (own?.configurable !== true) return () => {}
  const get = (): unknown => report(name, own?.get === undefined ? own?.value : own.get.call(headers), get)
  const set = (value: unknown): void => {
    if (own?.set === undefined) own = { ...own, value }
    else own.set.call(headers, value)
  }
  Object.defineProperty(headers, name, { configurable: true, enumerable: own.enumerable === true, get, set })
  return () => {
    const present: { readonly get?: unknown } | undefined = Object.getOwnPropertyDescriptor(headers, name)
    // Not if the application has frozen the fields: then the accessor stays, and reports nothing.
    if (present?.get === get) Reflect.defineProperty(headers, name, own ?? {})
  }
}

/**
 * Makes a proxy the prototype of the fields: JavaScript reads there what the object lacks. The prototype of
 * the proxy is null, so that libraries still take the object for a plain one; `instanceof Object` is false
 * for it.
 */
function watchAbsences(headers: object, report: Report): Stop {
  let watched = absences.get(headers)
  if (watched === undefined) {
    const before = Object.getPrototypeOf(headers) as object | null
    absences.set(headers, (watched = { before, reports: new Set() }))
    Object.setPrototypeOf(headers, reportingPrototype(before ?? NONE))
  }
  const { before, reports } = watched
  reports.add(report)
  return () => {
    reports.delete(report)
    if (reports.size > 0) return
    absences.delete(headers)
    Reflect.setPrototypeOf(headers, before)
  }
}

function reportingPrototype(prototype: object): object {
  let made = prototypes.get(prototype)
  if (made === undefined) prototypes.set(prototype, (made = new Proxy(prototype, { get: getAbsent })))
  return made
}

function getAbsent(target: object, name: string | symbol, receiver: object): unknown {
  if (name === inspect.custom) return plainCopy
  const value: unknown = Reflect.get(target, name, receiver)
  if (value === undefined && typeof name === 'string')
    for (const report of absences.get(receiver)?.reports ?? []) report(name, value, getAbsent)
  return value
}

/**
 * What `util.inspect` shows: the fields themselves. The handler may put the text into its response, so these
 * are reads.
 */
function plainCopy(this: object): object {
  const { before } = absences.get(this) ?? { before: null }
  return Object.assign(Object.create(before) as object, this)
}
