import { formatDuration } from '@cattlegrid/core/extend'
import type { Command, CommandContext } from './command.ts'
import { warnOfEmptyNamespace } from './namespaces.ts'
import { jsonLine } from './print.ts'

export const pauseCommand: Command = {
  name: 'pause',
  operands: 'none',
  summary: 'bypasses the caches of all processes in the namespace, for an hour or --for',
  details: `Every call runs its own loader, inside maxLoads; no stored value is served, and no loaded one stored. Writes
and invalidations still reach the store. A process that starts later learns of it, and one whose Redis
is away keeps what it knew. The pause ends by itself; another one replaces it.`,
  takes: '--for',
  run: (context) => pause(context, context.pauseFor),
}

export const resumeCommand: Command = {
  name: 'resume',
  operands: 'none',
  summary: 'ends the pause of all processes in the namespace',
  details:
    'What was invalidated meanwhile does not come back. A process that called cache.pause() itself stays paused.',
  run: (context) => pause(context, 0),
}

/** `duration`, ms; 0: ends the pause. */
async function pause(context: CommandContext, duration: number): Promise<void> {
  const { connection, json, terminal } = context
  await warnOfEmptyNamespace(context)
  const told = await connection.ask((admin) => admin.pause(duration))
  const done = duration > 0 ? `paused   for ${formatDuration(duration)}` : 'resumed'
  terminal.out(json ? jsonLine({ paused: duration, told }) : `${done}; ${told} ${told === 1 ? 'store' : 'stores'} told`)
}
