import type { Duration } from '@cattlegrid/core'

/** A logger that takes fields and then a message, as those of `pino` do. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Options of `logEvents`. */
export interface LogOptions {
  /** At most one line of a kind is written in this time. The next one has the number of those left out, as `suppressed`. Default: `'10s'`. */
  readonly every?: Duration | undefined
  /** Puts the key into each line, as `key`. A key may hold personal data. Default: false. */
  readonly keys?: boolean | undefined
}
