/** What went wrong, in one line, with its cause. */
export function errorText(error: unknown): string {
  // A host name with several addresses fails with one error for each, inside an error without a message.
  if (error instanceof AggregateError) return [...new Set(error.errors.map(errorText))].join('; ')
  if (!(error instanceof Error)) return String(error)
  const text = error.message === '' ? error.name : error.message
  if (error.cause === undefined) return text
  const cause = errorText(error.cause)
  return text.includes(cause) ? text : `${text}: ${cause}`
}
