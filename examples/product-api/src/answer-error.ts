export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly error: string }
}

/**
 * The answer to an error, the same from both frameworks: the status the error carries (ours, the framework's for a broken
 * body, cattlegrid's 503 with Retry-After), else 500. What a 5xx says stays in the log: it may name hosts and queries.
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
