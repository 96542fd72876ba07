import type { Command } from './command.ts'
import { inspectCommand } from './inspect-command.ts'
import { deleteCommand, expireCommand, tagsCommand } from './invalidate-commands.ts'
import { watchCommand } from './watch-command.ts'

/** Every command, in the order in which help shows them. */
export const commands: readonly Command[] = [inspectCommand, deleteCommand, expireCommand, tagsCommand, watchCommand]
