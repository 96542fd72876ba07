import { writeFile } from 'node:fs/promises'
import type { Explanation } from '@cattlegrid/explain'
import type { Command, CommandContext } from './command.ts'
import { CommandError, reasonOf } from './command-error.ts'
import type { Connection } from './connection.ts'
import { namespaceNotes } from './namespaces.ts'
import { storedKeyOf } from './operands.ts'
import { displayKey, escapeControls, jsonLine } from './print.ts'
import { assertComplete, findEntriesOf } from './search.ts'
import { traceOf } from './trace.ts'

/**
 * The number of entries of a page that are explained: each costs a question to every process, and a
 * process answers
 * 20 in a second.
 */
const MOST_EXPLAINED = 10

/** An explanation, with what only the command line can say of it. */
interface Explained {
  readonly explanation: Explanation
  readonly notes: readonly string[]
}

export const explainCommand: Command = {
  name: 'explain',
  operands: 'key',
  summary: 'tells why a key came out as it did: asks every process what it remembers of it',
  details: `The events of all processes in their order, then the state of the key now, then what is missing.
Only processes that call explain() of @cattlegrid/explain remember events, and none of them keeps a value. They have a fifth
of --timeout to answer: one that does not is frozen or busy, or has an older version.
--page explains the entries that carry the tag of the URL, as inspect finds them; of many, the first ${MOST_EXPLAINED}.
--trace also writes the events as a trace: a process per process, a track per flight. Open it at ui.perfetto.dev.`,
  takes: '--trace',
  run: (context) => (context.page === undefined ? explainKey(context) : explainPage(context, context.page)),
}

async function explainKey({ connection, operands: [key = ''], json, trace, terminal }: CommandContext): Promise<void> {
  const explained = await explain(connection, key)
  terminal.out(json ? jsonLine(documentOf(explained)) : textOf(explained))
  await writeTrace(trace, [explained])
}

async function explainPage(context: CommandContext, page: string): Promise<void> {
  const { connection, json, trace, terminal } = context
  const entries = await findEntriesOf(page, context)
  const { keys, searched, complete } = entries
  const all: Explained[] = []
  for (const key of keys.slice(0, MOST_EXPLAINED)) all.push(await explain(connection, key))
  const found = `${keys.length} of ${searched.toLocaleString('en')} entries carry the tag of this URL.`
  const shown = keys.length > all.length ? [`The first ${all.length} are explained.`] : []
  const notes = [found, ...shown, ...(searched === 0 ? await namespaceNotes(connection) : [])]
  const texts = all.map((one) => `${displayKey(one.explanation.key)}\n${textOf(one)}`)
  terminal.out(
    json
      ? jsonLine({ page, searched, complete, explanations: all.map(documentOf), notes })
      : [notes.join('\n'), ...texts].join('\n\n'),
  )
  await writeTrace(trace, all)
  assertComplete(entries)
}

async function explain(connection: Connection, key: string): Promise<Explained> {
  const explanation = await connection.askProcesses((diagnosis, timeout) => diagnosis.explain(key, { timeout }))
  const { events, state } = explanation
  const unknown = events.length === 0 && state?.state === 'gone'
  return { explanation, notes: unknown ? await namespaceNotes(connection, [storedKeyOf(key)]) : [] }
}

function textOf({ explanation, notes }: Explained): string {
  return [...explanation.sentences, ...notes].map(escapeControls).join('\n')
}

/** What JSON cannot say is null. */
function documentOf({ explanation, notes }: Explained): object {
  const { key, at, state = null, processes, unanswered = null, events, sentences } = explanation
  return { key, at, state, processes, unanswered, events, sentences, notes }
}

async function writeTrace(file: string | undefined, all: readonly Explained[]): Promise<void> {
  if (file === undefined) return
  const trace = traceOf(all.map(({ explanation }) => explanation))
  try {
    await writeFile(file, JSON.stringify(trace))
  } catch (error) {
    throw new CommandError(1, `The trace cannot be written: ${reasonOf(error)}.`, 'Name another file with --trace.')
  }
}
