import { renderTable, type Cell, type Row, type Tone } from './table.ts'
import { loadsPerExpiry, type Run } from './verdict.ts'

export interface Report {
  readonly title: string
  readonly runs: readonly Run[]
  readonly notes: string
}

/** What the table of `--headless` means. */
export const NOTES = `
  unprotected        the handler without the cache, in every process
  + stale            staleWhileRevalidate; without it no response is older
                     than the ttl of 1 s
  database queries   counted by the database itself, in a separate table
  most at once       queries waiting or running in the database at one moment,
                     by its clock
  loads per expiry   queries for each lifetime of the entry; 1.00 is the minimum
  p50, p99, slowest  measured by the client: 40 connections, each sends its next
                     request as soon as it has a response`

/** The table: one column for each run. */
export function renderReport({ title, runs, notes }: Report, colour: boolean): string {
  const rows: Row[] = [
    row('processes', runs, ({ processes }) => whole(processes)),
    row('seconds', runs, ({ traffic }) => traffic.seconds.toFixed(1)),
    row('requests', runs, ({ traffic }) => whole(traffic.requests)),
    row('database queries', runs, ({ loads }) => whole(loads.total)),
    row('most at once', runs, ({ loads }) => whole(loads.mostAtOnce)),
    row(
      'loads per expiry',
      runs,
      (run) => loadsPerExpiry(run).toFixed(2),
      ({ loads }) => (loads.total === loads.periods ? 'good' : 'bad'),
    ),
    row('p50', runs, ({ traffic }) => milliseconds(traffic.p50)),
    row('p99', runs, ({ traffic }) => milliseconds(traffic.p99)),
    row('slowest', runs, ({ traffic }) => milliseconds(traffic.slowest)),
    row(
      'errors',
      runs,
      ({ traffic }) => whole(traffic.errors),
      ({ traffic }) => (traffic.errors === 0 ? 'plain' : 'bad'),
    ),
  ]
  const table = renderTable({ heads: runs.map(({ name }) => name.replace(' + ', '\n+ ')), rows }, colour)
  return `\n  ${title}\n\n${table}\n${notes}\n`
}

function row(label: string, runs: readonly Run[], text: (run: Run) => string, tone?: (run: Run) => Tone): Row {
  return { label, cells: runs.map((run): Cell => ({ text: text(run), tone: tone?.(run) ?? 'plain' })) }
}

function whole(value: number): string {
  return value.toLocaleString('en')
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`
}
