import { formatDuration } from '@cattlegrid/core/extend'
import { pauseFleet } from '@cattlegrid/redis/internal'
import type { Command, CommandContext } from './command.ts'
import { emptyNamespaceNote } from './namespaces.ts'
import { jsonLine } from './print.ts'

export const pauseCommand: Command = {
  name: 'pause',
  synopsis: '',
  summary: 'bypasses the caches of all processes in the namespace, for an hour or --for',
  details: `Every call runs its own loader, inside maxLoads; no stored value is served, and no loaded one stored. Writes
and invalidations still reach the store. A process that starts later learns of it, and one whose Redis
is away keeps what it knew. The pause ends by itself; another one replaces it.`,
  takes: '--for',
  operandError: ({ length }) => noOperands('pause', length),
  run: (context) => pause(context, context.pauseFor),
}

export const resumeCommand: Command = {
  name: 'resume',
  synopsis: '',
  summary: 'ends the pause of all processes in the namespace',
  details:
    'What was invalidated meanwhile does not come back. A process that called cache.pause() itself stays paused.',
  operandError: ({ length }) => noOperands('resume', length),
  run: (context) => pause(context, 0),
}

function noOperands(name: string, length: number): string | undefined {
  return length === 0 ? undefined : `'${name}' takes no key; ${length} ${length === 1 ? 'was' : 'were'} given.`
}

/** `duration`, ms; 0: ends the pause. */
async function pause({ connection, json, terminal }: CommandContext, duration: number): Promise<void> {
  // Before: the pause itself stands under the namespace.
  const note = await emptyNamespaceNote(connection)
  if (note !== undefined) terminal.err(`${note}.`)
  const told = await connection.ask((link) => pauseFleet(link, connection.redisKeys, duration))
  const done = duration > 0 ? `paused   for ${formatDuration(duration)}` : 'resumed'
  terminal.out(json ? jsonLine({ paused: duration, told }) : `${done}; ${told} ${told === 1 ? 'store' : 'stores'} told`)
}
