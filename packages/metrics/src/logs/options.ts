import type { Duration } from '@cattlegrid/core'

/** A logger that takes fields and then a message, as those of `pino` do. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Options of `logEvents`. */
export interface LogOptions {
  /**
   * At most one line of a kind is written in this time. The next one has the number of those left out, as
   * `suppressed`. Default: `'10s'`.
   */
  readonly every?: Duration | undefined
  /** Puts the key into each line, as `key`. A key may hold personal data. Default: false. */
  readonly keys?: boolean | undefined
  /**
   * Puts each error whole into its line, as `err`. Messages and members of errors may hold a value, a
   * request, SQL or a password. Default: false, a line has the names and the codes of the error and of its
   * causes, as `error`.
   */
  readonly errors?: boolean | undefined
}
