import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { BoundedMap } from '@cattlegrid/core/extend'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'
import { selectingValue } from '../fields/selecting-value.ts'

/** The record of variants: it stands at the key of a URL whose responses vary. */
export interface VaryRecord {
  /** The selecting request fields: lower-case, sorted. */
  readonly vary: readonly string[]
  /** Part of the variants' keys, and new in each record: the variants of an older record are unreachable. */
  readonly id: string
}

/** Nearly every client has a value of its own. */
const NEARLY_UNIQUE = new Set(['cookie', 'authorization', 'user-agent'])
const MAX_NAMES = 6
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** The names in `Vary` (RFC 9111 section 4.1): lower-case, sorted, once each. */
export function varyNames(fields: HeaderFields): readonly string[] {
  const names = linesOf(fields, 'vary').flatMap((line) => line.split(','))
  return [...new Set(names.map((name) => name.trim().toLowerCase()))].filter((name) => name !== '').toSorted()
}

/**
 * Why a response with this `Vary` goes to its own client only; undefined where its variants may be stored.
 */
export function varyForbids(names: readonly string[], allowed: readonly string[]): 'vary' | 'vary-star' | undefined {
  // A member that is no field name says nothing about which requests may have the response.
  if (names.some((name) => name.includes('*') || !FIELD_NAME.test(name))) return 'vary-star'
  const counted = names.filter((name) => !allowed.includes(name))
  return counted.length > MAX_NAMES || counted.some((name) => NEARLY_UNIQUE.has(name)) ? 'vary' : undefined
}

/** The key of the variant that these request fields select. An absent field differs from an empty one. */
export function variantKey(key: string, { vary, id }: VaryRecord, headers: IncomingHttpHeaders): string {
  const parts = [key, id, ...vary.flatMap((name) => [name, selectingValue(name, headers)])]
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part === undefined ? '-;' : `${part.length}:${part}`)
  return `http:${hash.digest('base64url')}`
}

/** The values of the selecting request fields. */
export function selectingValues(
  names: readonly string[],
  headers: IncomingHttpHeaders,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(names.map((name) => [name, selectingValue(name, headers)]))
}

/** True if a request has the same selecting values; undefined: the response does not vary. */
export function isSelectedBy(
  values: Readonly<Record<string, string | undefined>> | undefined,
  headers: IncomingHttpHeaders,
): boolean {
  if (values === undefined) return true
  return Object.entries(values).every(([name, value]) => selectingValue(name, headers) === value)
}

/** Appends the stored names that the `Vary` of outer layers lacks. */
export function mergeVary(outer: string | undefined, stored: string | undefined): string | undefined {
  if (outer === undefined || stored === undefined) return stored ?? outer
  const names = varyNames({ vary: outer })
  const missing = stored.split(',').filter((name) => !names.includes(name.trim().toLowerCase()))
  return [outer, ...missing.map((name) => name.trim())].join(', ')
}

/**
 * Counts the variants that this process has written for each URL: a field with many values must not fill
 * the store.
 */
export class VariantCount {
  readonly #records: BoundedMap<string, Set<string>>

  constructor(recordsKept: number) {
    this.#records = new BoundedMap(recordsKept)
  }

  /** Adds a variant; returns the oldest one where the URL now has more than `max`. */
  add({ id }: VaryRecord, variant: string, max: number): string | undefined {
    const variants = this.#records.get(id) ?? new Set<string>()
    this.#records.set(id, variants)
    // A set keeps the order of insertion.
    variants.delete(variant)
    variants.add(variant)
    const [oldest] = variants
    if (variants.size <= max || oldest === undefined) return undefined
    variants.delete(oldest)
    return oldest
  }
}
