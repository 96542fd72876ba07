import { type Done, MAX_TAG_LENGTH } from '@cattlegrid/core'
import type { Call, Command } from './command.ts'
import { Complaint } from './complaint.ts'
import { jsonLine, named, namedList } from './print.ts'

const AGAIN = 'Retrying is safe.'

export const deleteCommand: Command = {
  name: 'delete',
  synopsis: '<key>...',
  summary: 'removes entries everywhere',
  details: `Also voids a running lease, so that no load that began before can bring the value back, and ends a
cooldown. A key with nothing at it is no error.`,
  objection: (keys) => (keys.length > 0 ? undefined : "'delete' takes one key or several, and none is given."),
  run: (call) => invalidate(call, 'delete', 'deleted'),
}

export const expireCommand: Command = {
  name: 'expire',
  synopsis: '<key>...',
  summary: 'makes entries stale',
  details: `They may still be served inside the stale windows that they were stored with. Also voids a running lease
and ends a cooldown. A key with nothing at it is no error.`,
  objection: (keys) => (keys.length > 0 ? undefined : "'expire' takes one key or several, and none is given."),
  run: (call) => invalidate(call, 'expire', 'expired'),
}

export const tagsCommand: Command = {
  name: 'tags',
  synopsis: '<tag>...',
  summary: 'invalidates every entry that carries one of the tags',
  details:
    'And the result of every load that began before. The entries stay in Redis until they end, but count no more.',
  objection(tags) {
    if (tags.length === 0) return "'tags' takes one tag or several, and none is given."
    const odd = tags.find(({ length }) => length === 0 || length > MAX_TAG_LENGTH)
    return odd === undefined ? undefined : `A tag has ${odd.length} characters; accepted: 1 to ${MAX_TAG_LENGTH}.`
  },
  async run({ connection, operands, json, terminal }) {
    const tags = [...new Set(operands)]
    const { tagSeq } = await connection.ask((store) => store.invalidateTags(tags)).catch(unconfirmed(tags))
    terminal.out(json ? jsonLine({ tags, tagSeq }) : tags.map((tag) => `invalidated  ${named(tag)}`).join('\n'))
  },
}

/** Each key is a step of its own: what was confirmed is told, whatever became of the others. */
async function invalidate(
  { connection, operands, json, terminal }: Call,
  how: 'delete' | 'expire',
  done: 'deleted' | 'expired',
): Promise<void> {
  const keys = [...new Set(operands)]
  const step = (key: string): Promise<Done> => connection.ask((store) => store.invalidate(key, how, 0))
  const outcomes = await Promise.allSettled(keys.map(step))
  const confirmed = keys.filter((_, index) => outcomes[index]?.status === 'fulfilled')
  const open = keys.filter((_, index) => outcomes[index]?.status !== 'fulfilled')
  if (json) terminal.out(jsonLine({ [done]: confirmed, unconfirmed: open }))
  else if (confirmed.length > 0) terminal.out(confirmed.map((key) => `${done}  ${named(key)}`).join('\n'))
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failure !== undefined) unconfirmed(open)(failure.reason)
}

function unconfirmed(names: readonly string[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Complaint)) throw error
    throw new Complaint(error.exitCode, error.message, `${error.hint}\nNot confirmed: ${namedList(names)}. ${AGAIN}`)
  }
}
