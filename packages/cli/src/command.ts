import type { Connection } from './connection.ts'

/** The output of a command, and the signal that ends it. */
export interface Terminal {
  /** Writes a result, of one line or several, to stdout. */
  out(text: string): void
  /** Writes a status or an error to stderr. */
  err(text: string): void
  /** Resolves on SIGINT (Ctrl-C) or SIGTERM. */
  interrupted(): Promise<void>
}

/** The weight by which keys are sorted. */
export type Weight = 'load-time' | 'followers'

/** The arguments of a command. */
export interface CommandContext {
  readonly connection: Connection
  /** Keys or tags. */
  readonly operands: readonly string[]
  /** The URL of `--page`, in place of keys. */
  readonly page: string | undefined
  /** True: results are printed as JSON. */
  readonly json: boolean
  /** The weight of `--by`; by default, the time of loads. */
  readonly by: Weight
  /** The file of `--trace`. */
  readonly trace: string | undefined
  /** The time of `--for`, ms; by default, an hour. */
  readonly pauseFor: number
  readonly terminal: Terminal
}

export interface Command {
  readonly name: string
  /** What it takes: a row of `OPERANDS`. */
  readonly operands: 'none' | 'key' | 'keys' | 'tags'
  readonly summary: string
  /** The text that `--help` adds for this command. */
  readonly details: string
  /** The options that this command takes alone. */
  readonly takes?: '--by' | '--trace' | '--for'
  run(context: CommandContext): Promise<void>
}
