import type { HeaderFields } from '../fields/header-fields.ts'

/** The status line and fields of an answer, seen before its first byte is out. */
export interface ResponseHead {
  readonly status: number
  /** Every field that is set at our layer, by lower-case name. */
  readonly fields: HeaderFields
  /** What was set when the handler began: the difference is what the inside added, and only that is stored. */
  readonly before: HeaderFields
  /** Fields that layers nearer to the socket added, where they can be seen: judged for cookies and prohibitions, never stored. */
  readonly outer?: HeaderFields | undefined
  /** The length of the body, where the whole of it is at hand already; undefined while it is still being made. */
  readonly bodyLength: number | undefined
  /** Whether no layer can add a field any more, or forbid what these allow. */
  readonly final?: boolean | undefined
}
