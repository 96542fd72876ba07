import type { ErrorCode } from '@cattlegrid/core'

/** What cattlegrid answers when there is nothing to serve; `status`, `statusCode` and `headers` are read by Express and Fastify. */
export class ServeError extends Error {
  /** The engine's error that led here. */
  readonly code: ErrorCode
  readonly status: 503 | 504
  readonly statusCode: 503 | 504
  /** `retry-after` in seconds, where trying again makes sense. */
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, status: 503 | 504, message: string, headers: Readonly<Record<string, string>>) {
    super(message)
    this.name = 'ServeError'
    this.code = code
    this.status = status
    this.statusCode = status
    this.headers = headers
  }
}
