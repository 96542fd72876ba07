import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'
import { selectingValue } from '../fields/selecting-value.ts'

/**
 * What stands at the key of a URL whose answers vary: by which request fields, and an id that is made anew whenever this is written, so that
 * the variants of an older record are out of reach.
 */
export interface VaryRecord {
  /** Lower-case, sorted. */
  readonly vary: readonly string[]
  readonly id: string
}

/** Nearly every client has a value of its own. */
const NEARLY_UNIQUE = new Set(['cookie', 'authorization', 'user-agent'])
const MOST_NAMES = 6

/** The request fields that chose this answer (RFC 9111 section 4.1): lower-case, sorted, once each. */
export function varyNames(fields: HeaderFields): readonly string[] {
  const names = linesOf(fields, 'vary').flatMap((line) => line.split(','))
  return [...new Set(names.map((name) => name.trim().toLowerCase()))].filter((name) => name !== '').toSorted()
}

/** Why an answer with this `Vary` is for its own client alone; undefined where its variants may be kept. */
export function varyForbids(names: readonly string[], allowed: readonly string[]): 'vary' | 'vary-star' | undefined {
  if (names.some((name) => name.includes('*'))) return 'vary-star'
  const counted = names.filter((name) => !allowed.includes(name))
  return counted.length > MOST_NAMES || counted.some((name) => NEARLY_UNIQUE.has(name)) ? 'vary' : undefined
}

/** The key of the variant that a request with these fields may have. An absent field is not an empty one. */
export function variantKey(key: string, { vary, id }: VaryRecord, headers: IncomingHttpHeaders): string {
  const parts = [key, id, ...vary.flatMap((name) => [name, selectingValue(name, headers)])]
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part === undefined ? '-;' : `${part.length}:${part}`)
  return `http:${hash.digest('base64url')}`
}

/** The values of the fields that choose. */
export function choiceOf(
  names: readonly string[],
  headers: IncomingHttpHeaders,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(names.map((name) => [name, selectingValue(name, headers)]))
}

/** Whether a request with these fields would have been given the same. */
export function isChosenBy(
  choice: Readonly<Record<string, string | undefined>> | undefined,
  headers: IncomingHttpHeaders,
): boolean {
  if (choice === undefined) return true
  return Object.entries(choice).every(([name, value]) => selectingValue(name, headers) === value)
}

/** The same list with the names that it lacks: what layers outside vary by stays. */
export function mergeVary(standing: string | undefined, stored: string | undefined): string | undefined {
  if (standing === undefined || stored === undefined) return stored ?? standing
  const names = varyNames({ vary: standing })
  const lacking = stored.split(',').filter((name) => !names.includes(name.trim().toLowerCase()))
  return [standing, ...lacking.map((name) => name.trim())].join(', ')
}

/** How many variants of one URL this process has written, so that a field with many values cannot fill the store. */
export class VariantCount {
  readonly #records: LRUCache<string, Set<string>>

  constructor(maxRecords: number) {
    this.#records = new LRUCache({ max: maxRecords })
  }

  /** Notes a variant; returns the oldest where there are more than `max` now. */
  add({ id }: VaryRecord, variant: string, max: number): string | undefined {
    const variants = this.#records.get(id) ?? new Set<string>()
    this.#records.set(id, variants)
    // A set keeps the order of insertion: the latest comes last.
    variants.delete(variant)
    variants.add(variant)
    const [oldest] = variants
    if (variants.size <= max || oldest === undefined) return undefined
    variants.delete(oldest)
    return oldest
  }
}
