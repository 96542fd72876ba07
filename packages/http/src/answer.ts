/** A whole answer, ready to be sent as it is. */
export interface Answer {
  readonly status: number
  /** Fields to set, by lower-case name, over what is set. `content-length` and, for a stored answer, `date` are among them. */
  readonly fields: Readonly<Record<string, string | string[]>>
  /** Fields to take away, set by layers outside ours. */
  readonly removed: readonly string[]
  /** undefined: no body, as for HEAD and 304. */
  readonly body: Buffer | undefined
}
