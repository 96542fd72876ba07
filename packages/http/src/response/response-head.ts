import { type HeaderFields, linesOf } from '../fields/header-fields.ts'

/** The form in which the handler gave its framework the body, where the bytes do not show it. */
export const PAYLOAD_FORMS = ['text', 'null', 'undefined'] as const
export type PayloadForm = (typeof PAYLOAD_FORMS)[number]

/** The status and fields of a response, before its first byte is sent. */
export interface ResponseHead {
  readonly status: number
  /** All fields that are set at the cache's layer, by lower-case name. */
  readonly fields: HeaderFields
  /**
   * What layers outside have set: only what differs from it is stored. Not a field that the inside has set
   * itself, whatever its value.
   */
  readonly before: HeaderFields
  /**
   * What the inside has appended to fields of layers outside: lines, or a text that follows a comma.
   * Default: nothing.
   */
  readonly appended?: HeaderFields | undefined
  /**
   * The names of fields in which the inside has put what a layer outside had set into text of its own.
   * Default: none.
   */
  readonly mixed?: readonly string[] | undefined
  /**
   * Fields that outer layers added, where the adapter can see them: checked for cookies, prohibitions and
   * `Vary`, never stored.
   */
  readonly outer?: HeaderFields | undefined
  /** Of an error: the names of the fields that were set with or after its status; undefined: all were. */
  readonly errorFields?: ReadonlySet<string> | undefined
  /** The length of the body; undefined while it is not complete. */
  readonly bodyLength: number | undefined
  /** undefined also where the adapter cannot see it. */
  readonly form?: PayloadForm | undefined
  /** True if no layer can add or change a field any more. */
  readonly final?: boolean | undefined
}

/** Responses of these statuses have no body, whatever length they declare. */
export const BODILESS: ReadonlySet<number> = new Set([204, 304])

/** True if a whole body of this length agrees with the `Content-Length` (RFC 9111 section 3.3). */
export function hasDeclaredLength(
  { status, fields }: Pick<ResponseHead, 'status' | 'fields'>,
  bodyLength: number,
): boolean {
  const [declared] = linesOf(fields, 'content-length')
  return declared === undefined || BODILESS.has(status) || Number(declared) === bodyLength
}

/**
 * Adds the fields of outer layers. Written out in full: a spread is slow in V8, and each response needs it.
 */
export function withOuter(
  { status, fields, before, appended, mixed, errorFields, bodyLength, form, final }: ResponseHead,
  outer: HeaderFields,
): ResponseHead {
  return { status, fields, before, appended, mixed, outer, errorFields, bodyLength, form, final }
}
