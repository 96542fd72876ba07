import { type Directives, parseCacheControl } from './cache-control.ts'
import { type HeaderFields, linesOf } from './header-fields.ts'

/** The directives of a response that count for this cache. */
export interface EffectiveDirectives {
  readonly directives: Directives
  /** They come from a targeted field: `Cache-Control` and `Expires` do not count (RFC 9213 section 2.2). */
  readonly targeted: boolean
}

/**
 * Takes the first field of the target list that is valid and not empty, else `Cache-Control` (RFC 9213
 * section 2.2).
 */
export function effectiveDirectives(fields: HeaderFields, targets: readonly string[]): EffectiveDirectives {
  for (const target of targets) {
    const directives = parseTargeted(linesOf(fields, target).join(', '))
    if (directives !== undefined) return { directives, targeted: true }
  }
  return { directives: parseCacheControl(linesOf(fields, 'cache-control')), targeted: false }
}

const KEY = '[a-z*][a-z0-9_.*-]*'
const INTEGER = String.raw`-?\d{1,15}(?![\d.])`
const DECIMAL = String.raw`-?\d{1,12}\.\d{1,3}(?!\d)`
const STRING = String.raw`"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"`
const TOKEN = String.raw`[A-Za-z*][\w!#$%&'*+.^\x60|~:/-]*`
const BYTES = ':[A-Za-z0-9+/=]*:'
const ITEM = `(?:${DECIMAL}|${INTEGER}|${STRING}|${TOKEN}|${BYTES}|\\?[01])`
const PARAMETERS = `(?:; *${KEY}(?:=${ITEM})?)*`
const INNER_LIST = String.raw`\( *(?:${ITEM}${PARAMETERS}(?: +${ITEM}${PARAMETERS})*)? *\)`
const MEMBER = new RegExp(`(${KEY})(?:=(${INNER_LIST}|${ITEM}))?${PARAMETERS}`, 'y')
const COMMA = /[ \t]*,[ \t]*/y

/**
 * Parses a dictionary of Structured Fields (RFC 8941 section 4.2.2); undefined where it is empty or any part
 * is invalid. Of a repeated key the last one counts.
 */
function parseTargeted(field: string): Directives | undefined {
  const text = field.trim()
  const directives = new Map<string, string>()
  for (let position = 0; ;) {
    MEMBER.lastIndex = position
    const member = MEMBER.exec(text)
    if (member === null) return undefined
    const [, key = '', value] = member
    // Only integers can be seconds; a directive with the value false counts as absent.
    if (value === '?0') directives.delete(key)
    else directives.set(key, value !== undefined && /^-?\d+$/.test(value) ? value : '')
    position = MEMBER.lastIndex
    if (position === text.length) return directives
    COMMA.lastIndex = position
    if (COMMA.exec(text) === null) return undefined
    position = COMMA.lastIndex
  }
}
