/** Header fields by lower-case name; a list where the field has several lines. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>
