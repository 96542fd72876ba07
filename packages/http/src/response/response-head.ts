import type { HeaderFields } from '../fields/header-fields.ts'

/** The status and fields of a response, before its first byte is sent. */
export interface ResponseHead {
  readonly status: number
  /** All fields that are set at the cache's layer, by lower-case name. */
  readonly fields: HeaderFields
  /** The fields that were set when the handler began: only what differs from them is stored. */
  readonly before: HeaderFields
  /** Fields that layers nearer to the socket added, where the adapter can see them: checked for cookies and prohibitions, never stored. */
  readonly outer?: HeaderFields | undefined
  /** The length of the body; undefined while it is not complete. */
  readonly bodyLength: number | undefined
  /** Whether no layer can add or change a field any more. */
  readonly final?: boolean | undefined
}
