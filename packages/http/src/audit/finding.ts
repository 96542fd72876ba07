import { linesOf } from '../fields/header-fields.ts'
import { pathOf } from '../warnings.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'

/**
 * What an audit found. `where` and `why` are parts of a sentence; of a response they have the status at most.
 */
export type Finding =
  | { readonly kind: 'equal' }
  | { readonly kind: 'different'; readonly where: string }
  | { readonly kind: 'not-run'; readonly why: string }

/** Fields that say when a response was made. */
const OF_ITS_TIME = new Set(['date', 'expires'])

/** The first difference between what would be stored of both: status, fields, body. */
export function differenceOf(own: RecordedResponse, other: RecordedResponse): Finding {
  if (own.status !== other.status) return differentStatus(own.status, other.status)
  const fields = differentFields(own, other)
  const field = fields.find((name) => name !== 'etag')
  if (field !== undefined) return { kind: 'different', where: `the field ${field}` }
  if (!own.body.equals(other.body)) return { kind: 'different', where: `the body, ${placeOf(own.body, other.body)}` }
  // An entity-tag that is made of the body says no more than the body.
  return fields.length > 0 ? { kind: 'different', where: 'the field etag' } : { kind: 'equal' }
}

export function differentStatus(own: number, other: number): Finding {
  return { kind: 'different', where: `the status (${own} and ${other})` }
}

function differentFields(own: RecordedResponse, other: RecordedResponse): readonly string[] {
  const differIn = (fields: RecordedResponse['fields'] = {}, others: RecordedResponse['fields'] = {}): string[] =>
    [...new Set([...Object.keys(fields), ...Object.keys(others)])].filter(
      (name) => !OF_ITS_TIME.has(name) && String(linesOf(fields, name)) !== String(linesOf(others, name)),
    )
  return [...differIn(own.fields, other.fields), ...differIn(own.appended, other.appended)]
}

/** The first byte that differs, and its kind: a digit is likely of a time or a number, a letter of a name. */
function placeOf(own: Buffer, other: Buffer): string {
  const shorter = Math.min(own.length, other.length)
  let offset = 0
  while (offset < shorter && own[offset] === other[offset]) offset += 1
  if (offset === shorter) return `of which one ends at byte ${offset}`
  return `from byte ${offset} on (${kindOf(String.fromCharCode(own[offset] ?? 0))})`
}

function kindOf(character: string): string {
  if (/[0-9]/.test(character)) return 'a digit'
  if (/[a-z]/i.test(character)) return 'a letter'
  if (/\s/.test(character)) return 'a blank'
  return /[!-~]/.test(character) ? 'a punctuation mark' : 'another byte'
}

/** The warning of a difference, `where` the responses differ. */
export function differenceText(where: string, target: string, stops: boolean): string {
  const then = stops
    ? 'Its responses are not cached any more until the process starts again, and what is stored of it is purged.'
    : 'Its responses are cached nevertheless (onMismatch).'
  return (
    `An audit ran the handler of ${pathOf(target)} for its client, and once more for a request that has only what the key holds. The two responses differ in ` +
    `${where}: what one client gets would be wrong for another. ${then} Put what the response depends on into the key (key.cookies, key.headers, ` +
    'key.extra), or do not cache the route. A nonce, a time or a random id differs, too: a page that has one must not be cached.'
  )
}

export function notRunText(why: string, target: string): string {
  return `The responses of ${pathOf(target)} cannot be audited: ${why}. Nothing shows whether they are the same for every client. audit: false says that no audit is wanted.`
}
