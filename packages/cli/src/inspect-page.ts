import type { CommandContext } from './command.ts'
import { type KeyReport, reportOn } from './key-report.ts'
import { namespaceNotes } from './namespaces.ts'
import { jsonLine, type Row, table } from './print.ts'
import { documentOf, rowsOf } from './print-report.ts'
import { assertComplete, countOf, findEntriesOf, type PageEntries } from './search.ts'

/** The number of entries of a page that people are shown. */
const MOST_SHOWN = 50
const NOT_FOUND =
  'Only responses of routes with invalidateOnUnsafe carry the tag of their URL. Its query must be that of their key'

/** What was found of a page. */
interface PageReport extends PageEntries {
  readonly page: string
  readonly reports: readonly KeyReport[]
  readonly notes: readonly string[]
}

/** Shows every entry that carries the tag of a page. */
export async function inspectPage(context: CommandContext, page: string): Promise<void> {
  const { connection, json, terminal } = context
  const found = await findEntriesOf(page, context)
  const reports: KeyReport[] = []
  for (const key of json ? found.keys : found.keys.slice(0, MOST_SHOWN)) reports.push(await reportOn(connection, key))
  const notes = found.searched === 0 ? await namespaceNotes(connection) : []
  const report = { page, reports, notes, ...found }
  terminal.out(json ? jsonLine(pageDocument(report)) : pageText(report))
  assertComplete(found)
}

function pageText({ page, keys, searched, reports, notes }: PageReport): string {
  const hidden = keys.length - reports.length
  const all = [
    ...notes,
    ...(hidden > 0 ? [`${countOf(hidden)} more; --json shows all of them`] : []),
    ...(keys.length === 0 && searched > 0 ? [NOT_FOUND] : []),
  ]
  const noteRows: readonly Row[] = all.length === 0 ? [] : [['note', ...all]]
  const found = `${countOf(keys.length)} with the tag of this URL, of ${countOf(searched)} in the namespace`
  const head = table([['page', page], ['found', found], ...noteRows])
  return [head, ...reports.map((report) => table(rowsOf(report)))].join('\n\n')
}

function pageDocument({ page, searched, complete, reports, notes }: PageReport): object {
  return { page, searched, complete, entries: reports.map(documentOf), notes }
}
