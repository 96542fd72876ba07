import { readFileSync } from 'node:fs'
import { systemRuntime } from '@cattlegrid/core/extend'
import { readArguments } from './arguments.ts'
import type { Command, Terminal } from './command.ts'
import { CommandError, reasonOf } from './command-error.ts'
import { Connection } from './connection.ts'
import { explainCommand } from './explain-command.ts'
import { helpText } from './help.ts'
import { inspectCommand } from './inspect-command.ts'
import { deleteCommand, expireCommand, expireTagsCommand, tagsCommand } from './invalidate-commands.ts'
import { pauseCommand, resumeCommand } from './pause-commands.ts'
import { topCommand } from './top-command.ts'
import { watchCommand } from './watch-command.ts'

/** Every command, in the order of the help text. */
const commands: readonly Command[] = [
  inspectCommand,
  explainCommand,
  topCommand,
  deleteCommand,
  expireCommand,
  tagsCommand,
  expireTagsCommand,
  pauseCommand,
  resumeCommand,
  watchCommand,
]

/** Runs a command line and returns the exit code. */
export async function run(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const commandLine = readArguments(args, environment, commands)
    if (commandLine.kind === 'help') terminal.out(helpText(commands, commandLine.command))
    else if (commandLine.kind === 'version') terminal.out(version())
    else {
      const { command, target, ...context } = commandLine
      const connection = await Connection.open(target, systemRuntime)
      try {
        await command.run({ ...context, connection, terminal })
      } finally {
        connection.close()
      }
    }
    return 0
  } catch (error) {
    return reportError(error, terminal)
  }
}

/** Prints an error and its hint without a stack, and returns the exit code. */
export function reportError(error: unknown, terminal: Pick<Terminal, 'err'>): number {
  terminal.err(`cattlegrid: ${reasonOf(error)}`)
  if (!(error instanceof CommandError)) return 1
  terminal.err(error.hint)
  return error.exitCode
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return String((manifest as { readonly version?: unknown }).version)
}
