import type { CommandContext, Command } from './command.ts'
import { inspectPage } from './inspect-page.ts'
import { type KeyReport, reportOn } from './key-report.ts'
import { namespaceNotes } from './namespaces.ts'
import { jsonLine, table } from './print.ts'
import { documentOf, rowsOf } from './print-report.ts'
import { keyOfTopDigest } from './search.ts'

export const inspectCommand: Command = {
  name: 'inspect',
  operands: 'key',
  summary: 'shows the entry, the lease and the cooldown of a key, or the entries of a page',
  details: `The state is fresh, stale or gone.
An entry is gone, too, if one of its tags was invalidated, and stale if one was expired. A key without an entry is not an error.
Long values are shortened; --json prints them completely. Of an HTTP response, the status, the fields and the beginning
of a text are shown, but no fields that hold credentials.
A key may be given by the digest that 'top' shows: the whole namespace is searched for its entry.
--page searches the whole namespace for entries that carry the tag of the URL. Responses carry it where the route
has invalidateOnUnsafe, as all of an app have by default. It cannot find others, because the key of a response is a hash
over more than its URL. Leave out the query parameters that the route leaves out of its key.`,
  run: (context) => (context.page === undefined ? inspectKey(context) : inspectPage(context, context.page)),
}

async function inspectKey({ connection, operands: [key = ''], json, terminal }: CommandContext): Promise<void> {
  let report = await reportOn(connection, key)
  if (isEmpty(report)) {
    const hot = await keyOfTopDigest(connection, key)
    if (hot !== undefined) report = await reportOn(connection, hot)
    else report = { ...report, notes: await namespaceNotes(connection) }
  }
  terminal.out(json ? jsonLine(documentOf(report)) : table(rowsOf(report)))
}

function isEmpty({ entry, lease, cooldown, notes }: KeyReport): boolean {
  return entry === undefined && lease === undefined && cooldown === undefined && notes.length === 0
}
