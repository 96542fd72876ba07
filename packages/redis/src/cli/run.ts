import { readFileSync } from 'node:fs'
import { systemRuntime } from '@cattlegrid/core'
import { readArguments } from './arguments.ts'
import type { Terminal } from './command.ts'
import { commands } from './commands.ts'
import { Complaint, reasonOf } from './complaint.ts'
import { Connection } from './connection.ts'
import { helpText } from './help.ts'

/** Does what a command line asks for, and returns the exit code. */
export async function run(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const request = readArguments(args, environment, commands)
    if (request.kind === 'help') terminal.out(helpText(commands, request.command))
    else if (request.kind === 'version') terminal.out(version())
    else {
      const { command, target, ...call } = request
      const connection = await Connection.open(target, systemRuntime)
      try {
        await command.run({ ...call, connection, terminal })
      } finally {
        connection.close()
      }
    }
    return 0
  } catch (error) {
    return complain(error, terminal)
  }
}

/** What went wrong, and what to do, without a stack; returns the exit code. */
export function complain(error: unknown, terminal: Pick<Terminal, 'err'>): number {
  terminal.err(`cattlegrid: ${reasonOf(error)}`)
  if (!(error instanceof Complaint)) return 1
  terminal.err(error.hint)
  return error.exitCode
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  return String((manifest as { readonly version?: unknown }).version)
}
