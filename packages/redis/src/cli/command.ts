import type { Connection } from './connection.ts'

/** Where a command reads and writes, and what ends it from outside. */
export interface Terminal {
  /** A result, as one line or several. */
  out(text: string): void
  /** A hint or a complaint. */
  err(text: string): void
  /** Resolves at Ctrl-C, or when the process is told to end. */
  interrupted(): Promise<void>
}

/** What a command is run with. */
export interface Call {
  readonly connection: Connection
  /** Keys or tags. */
  readonly operands: readonly string[]
  /** Whether a program reads the results. */
  readonly json: boolean
  readonly terminal: Terminal
}

export interface Command {
  readonly name: string
  /** The operands as a synopsis has them, such as `<key>...`; empty when there are none. */
  readonly synopsis: string
  readonly summary: string
  /** What else `--help` says. */
  readonly details: string
  /** What is wrong with the operands; undefined when nothing is. */
  objection(operands: readonly string[]): string | undefined
  run(call: Call): Promise<void>
}
