export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly error: string }
}

/**
 * The response to an error, the same on both frameworks: the status that the error carries (a RequestError, the framework's own
 * for a malformed body, cattlegrid's 503 with Retry-After), else 500. The message of a 5xx goes to the log only: it may name
 * hosts and queries.
 */
export function answerError(error: unknown): ErrorAnswer {
  const { status, statusCode, headers, message } = readError(error)
  const known = status ?? statusCode ?? 500
  const code = known >= 400 && known < 600 ? known : 500
  if (code >= 500) console.error(error)
  return { status: code, headers: headers ?? {}, body: { error: code < 500 ? message : 'the server could not answer' } }
}

interface ReadError {
  readonly status?: number
  readonly statusCode?: number
  readonly headers?: Record<string, string>
  readonly message: string
}

function readError(error: unknown): ReadError {
  return error instanceof Error ? error : { message: String(error) }
}
