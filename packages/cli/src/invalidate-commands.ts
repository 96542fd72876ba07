import type { Done } from '@cattlegrid/core/extend'
import { urlTagsOf } from '@cattlegrid/http'
import type { CommandContext, Command } from './command.ts'
import { CommandError } from './command-error.ts'
import { warnOfEmptyNamespace } from './namespaces.ts'
import { storedKeyOf } from './operands.ts'
import { jsonLine, displayKey, displayKeys } from './print.ts'

const PAGE_DETAILS = `--page invalidates the tag of the URL, as a purge of that URL does: every response of the page that carries the tag.
Responses carry it where the route has invalidateOnUnsafe, as all of an app have by default; the command cannot know
whether others exist. Leave out the query parameters that the route leaves out of its key.`
const RETRY_HINT = 'Retrying is safe.'

export const deleteCommand: Command = {
  name: 'delete',
  operands: 'keys',
  summary: 'removes entries everywhere',
  details: `Also voids the lease, so that no load that began earlier can bring the value back, and ends a
cooldown. A key without an entry is not an error.
${PAGE_DETAILS}`,
  run: (context) => invalidate(context, 'delete', 'deleted'),
}

export const expireCommand: Command = {
  name: 'expire',
  operands: 'keys',
  summary: 'makes entries stale',
  details: `Stale entries may be served within the stale windows that they were stored with. Also voids the lease
and ends a cooldown. A key without an entry is not an error.
${PAGE_DETAILS}`,
  run: (context) => invalidate(context, 'expire', 'expired'),
}

export const tagsCommand: Command = {
  name: 'tags',
  operands: 'tags',
  summary: 'invalidates every entry that carries one of the tags',
  details:
    'Also voids the result of every load that began earlier. The entries stay in Redis until they expire, but are not served.',
  run: (context) => invalidateTags(context, 'delete', 'invalidated'),
}

export const expireTagsCommand: Command = {
  name: 'expire-tags',
  operands: 'tags',
  summary: 'makes every entry stale that carries one of the tags',
  details: 'Stale entries may be served within the stale windows that they were stored with. Running loads go on.',
  run: (context) => invalidateTags(context, 'expire', 'expired'),
}

/** Invalidates the tags that are named, or that of a page. */
async function invalidateTags(context: CommandContext, how: 'delete' | 'expire', done: string): Promise<void> {
  const { connection, operands, page, json, terminal } = context
  const tags = page === undefined ? [...new Set(operands)] : urlTagsOf(page)
  const named = page === undefined ? tags : [page]
  await warnOfEmptyNamespace(context)
  const { tagSeq } = await connection.request((store) => store.invalidateTags(tags, how)).catch(throwUnconfirmed(named))
  const lines = named.map((name) => `${done}  ${page === undefined ? '' : 'the tag of '}${displayKey(name)}`)
  terminal.out(json ? jsonLine({ page, tags, tagSeq }) : lines.join('\n'))
}

/** Invalidates each key separately, and reports the confirmed keys even if others fail. */
async function invalidate(context: CommandContext, how: 'delete' | 'expire', done: string): Promise<void> {
  const { connection, operands, page, json, terminal } = context
  if (page !== undefined) return await invalidateTags(context, how, done)
  const keys = [...new Set(operands)]
  await warnOfEmptyNamespace(context, keys.map(storedKeyOf))
  const step = (key: string): Promise<Done> => connection.request((store) => store.invalidate(storedKeyOf(key), how, 0))
  const outcomes = await Promise.allSettled(keys.map(step))
  const confirmed = keys.filter((_, index) => outcomes[index]?.status === 'fulfilled')
  const unconfirmed = keys.filter((_, index) => outcomes[index]?.status !== 'fulfilled')
  if (json) terminal.out(jsonLine({ [done]: confirmed, unconfirmed }))
  else if (confirmed.length > 0) terminal.out(confirmed.map((key) => `${done}  ${displayKey(key)}`).join('\n'))
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failure !== undefined) throwUnconfirmed(unconfirmed)(failure.reason)
}

function throwUnconfirmed(names: readonly string[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof CommandError)) throw error
    const hint = `${error.hint}\nNot confirmed: ${displayKeys(names)}. ${RETRY_HINT}`
    throw new CommandError(error.exitCode, error.message, hint)
  }
}
