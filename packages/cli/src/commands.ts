import type { Command } from './command.ts'
import { explainCommand } from './explain-command.ts'
import { inspectCommand } from './inspect-command.ts'
import { deleteCommand, expireCommand, expireTagsCommand, tagsCommand } from './invalidate-commands.ts'
import { pauseCommand, resumeCommand } from './pause-commands.ts'
import { topCommand } from './top-command.ts'
import { watchCommand } from './watch-command.ts'

/** Every command, in the order of the help text. */
export const commands: readonly Command[] = [
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
