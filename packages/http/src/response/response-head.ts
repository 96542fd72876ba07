import { type HeaderFields, linesOf } from '../fields/header-fields.ts'

/** The form in which the handler gave its framework the body, where the bytes do not show it. */
export const PAYLOAD_FORMS = ['text', 'null', 'undefined'] as const
export type PayloadForm = (typeof PAYLOAD_FORMS)[number]

/** The status and fields of a response, before its first byte is sent. */
export interface ResponseHead {
  readonly status: number
  /** All fields that are set at the cache's layer, by lower-case name. */
  readonly fields: HeaderFields
  /** The fields that were set when the handler began: only what differs from them is stored. */
  readonly before: HeaderFields
  /** Fields that outer layers added, where the adapter can see them: checked for cookies, prohibitions and `Vary`, never stored. */
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
