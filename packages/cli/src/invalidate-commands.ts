import type { Done } from '@cattlegrid/core/extend'
import { urlTagsOf } from '@cattlegrid/http'
import type { CommandContext, Command, Terminal } from './command.ts'
import { CommandError } from './command-error.ts'
import type { Connection } from './connection.ts'
import { keysError, storedKeyOf } from './keys.ts'
import { emptyNamespaceNote } from './namespaces.ts'
import { jsonLine, displayKey, displayKeys } from './print.ts'

const PAGE_DETAILS = `--page invalidates the tag of the URL, as a purge of that URL does: every response of the page that carries the tag.
Responses carry it where the route has invalidateOnUnsafe, as all of an app have by default; the command cannot know
whether others exist. Leave out the query parameters that the route leaves out of its key.`
const RETRY_HINT = 'Retrying is safe.'

export const deleteCommand: Command = {
  name: 'delete',
  synopsis: '<key>... | --page <url>',
  summary: 'removes entries everywhere',
  details: `Also voids the lease, so that no load that began earlier can bring the value back, and ends a
cooldown. A key without an entry is not an error.
${PAGE_DETAILS}`,
  takesPage: true,
  operandError: (keys) => (keys.length > 0 ? keysError(keys) : "'delete' takes one or more keys; none was given."),
  run: (context) => invalidate(context, 'delete', 'deleted'),
}

export const expireCommand: Command = {
  name: 'expire',
  synopsis: '<key>... | --page <url>',
  summary: 'makes entries stale',
  details: `Stale entries may be served within the stale windows that they were stored with. Also voids the lease
and ends a cooldown. A key without an entry is not an error.
${PAGE_DETAILS}`,
  takesPage: true,
  operandError: (keys) => (keys.length > 0 ? keysError(keys) : "'expire' takes one or more keys; none was given."),
  run: (context) => invalidate(context, 'expire', 'expired'),
}

export const tagsCommand: Command = {
  name: 'tags',
  synopsis: '<tag>...',
  summary: 'invalidates every entry that carries one of the tags',
  details:
    'Also voids the result of every load that began earlier. The entries stay in Redis until they expire, but are not served.',
  operandError: (tags) => tagsError('tags', tags),
  run: (context) => invalidateTags(context, 'delete', 'invalidated'),
}

export const expireTagsCommand: Command = {
  name: 'expire-tags',
  synopsis: '<tag>...',
  summary: 'makes every entry stale that carries one of the tags',
  details: 'Stale entries may be served within the stale windows that they were stored with. Running loads go on.',
  operandError: (tags) => tagsError('expire-tags', tags),
  run: (context) => invalidateTags(context, 'expire', 'expired'),
}

/** As for the tags of a cache, in characters. */
const LONGEST_TAG = 256

function tagsError(name: string, tags: readonly string[]): string | undefined {
  if (tags.length === 0) return `'${name}' takes one or more tags; none was given.`
  const invalid = tags.find(({ length }) => length === 0 || length > LONGEST_TAG)
  return invalid === undefined ? undefined : `A tag has ${invalid.length} characters; accepted: 1 to ${LONGEST_TAG}.`
}

async function invalidateTags(
  { connection, operands, json, terminal }: CommandContext,
  how: 'delete' | 'expire',
  done: 'invalidated' | 'expired',
): Promise<void> {
  const tags = [...new Set(operands)]
  await warnOfEmptyNamespace(connection, terminal)
  const { tagSeq } = await connection.request((store) => store.invalidateTags(tags, how)).catch(throwUnconfirmed(tags))
  terminal.out(json ? jsonLine({ tags, tagSeq }) : tags.map((tag) => `${done}  ${displayKey(tag)}`).join('\n'))
}

/** Invalidates the tag of a page, and says so. */
async function invalidatePage(
  { connection, json, terminal }: CommandContext,
  page: string,
  how: 'delete' | 'expire',
  done: 'deleted' | 'expired',
): Promise<void> {
  const tags = urlTagsOf(page)
  await warnOfEmptyNamespace(connection, terminal)
  const { tagSeq } = await connection
    .request((store) => store.invalidateTags(tags, how))
    .catch(throwUnconfirmed([page]))
  terminal.out(json ? jsonLine({ page, tags, tagSeq }) : `${done}  the tag of ${displayKey(page)}`)
}

/** Before the invalidation: that of a key may empty the namespace, and that of a tag leaves something there. */
async function warnOfEmptyNamespace(
  connection: Connection,
  terminal: Terminal,
  keys?: readonly string[],
): Promise<void> {
  const note = await emptyNamespaceNote(connection, keys)
  if (note !== undefined) terminal.err(`${note}.`)
}

/** Invalidates each key separately, and reports the confirmed keys even if others fail. */
async function invalidate(
  context: CommandContext,
  how: 'delete' | 'expire',
  done: 'deleted' | 'expired',
): Promise<void> {
  const { connection, operands, page, json, terminal } = context
  if (page !== undefined) return await invalidatePage(context, page, how, done)
  const keys = [...new Set(operands)]
  await warnOfEmptyNamespace(connection, terminal, keys.map(storedKeyOf))
  const step = (key: string): Promise<Done> => connection.request((store) => store.invalidate(storedKeyOf(key), how, 0))
  const outcomes = await Promise.allSettled(keys.map(step))
  const confirmed = keys.filter((_, index) => outcomes[index]?.status === 'fulfilled')
  const unconfirmedKeys = keys.filter((_, index) => outcomes[index]?.status !== 'fulfilled')
  if (json) terminal.out(jsonLine({ [done]: confirmed, unconfirmed: unconfirmedKeys }))
  else if (confirmed.length > 0) terminal.out(confirmed.map((key) => `${done}  ${displayKey(key)}`).join('\n'))
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failure !== undefined) throwUnconfirmed(unconfirmedKeys)(failure.reason)
}

function throwUnconfirmed(names: readonly string[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(
      error.exitCode,
      error.message,
      `${error.hint}\nNot confirmed: ${displayKeys(names)}. ${RETRY_HINT}`,
    )
  }
}
