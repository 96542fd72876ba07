import { renderTable, type Cell, type Row, type Tone } from './table.ts'
import { loadsPerExpiry, type Run } from './verdict.ts'

export interface Report {
  readonly title: string
  readonly runs: readonly Run[]
  readonly notes: string
}

/** The notes on what each table counts. */
export const COUNTS = `  database queries   rankings, counted by the database, in a separate table
  most at once       of them, waiting or running, by the clock of the database
  expiries           one begins with a load one ttl or more after the expiry
                     before: counted by this one rule in each column
  loads per expiry   database queries for each of them; 1.00 is the minimum`

/** What the times are, in both tables. */
export const TIMES = 'a busy machine makes them long, and no count wrong'

/** What the table of `--headless` means. */
export const NOTES = `
  unprotected        the handler without the cache, in every process
  + stale            staleWhileRevalidate; without it no response is older
                     than the ttl of 1 s
  waited for a load  responses that are no hit by their Cache-Status
${COUNTS}
  p99, slowest       by the clients: 40 connections, each sends its next request
                     as soon as it has a response;
                     ${TIMES}`

/** The table: one column for each run. What is counted comes first, what is measured last. */
export function renderReport({ title, runs, notes }: Report, colour: boolean): string {
  const counted: Row[] = [
    row('processes', runs, ({ processes }) => whole(processes)),
    row('requests', runs, ({ traffic }) => whole(traffic.requests)),
    row('waited for a load', runs, ({ traffic }) => whole(traffic.waited)),
    row('database queries', runs, ({ loads }) => whole(loads.total)),
    row('most at once', runs, ({ loads }) => whole(loads.mostAtOnce)),
    row('expiries', runs, ({ loads }) => whole(loads.expiries)),
    row(
      'loads per expiry',
      runs,
      (run) => loadsPerExpiry(run).toFixed(2),
      ({ loads }) => (loads.total === loads.expiries ? 'good' : 'bad'),
    ),
    row(
      'errors',
      runs,
      ({ traffic }) => whole(traffic.errors),
      ({ traffic }) => (traffic.errors === 0 ? 'plain' : 'bad'),
    ),
  ]
  const measured: Row[] = [
    row('seconds', runs, ({ traffic }) => traffic.seconds.toFixed(1)),
    row('p99', runs, ({ traffic }) => milliseconds(traffic.p99)),
    row('slowest', runs, ({ traffic }) => milliseconds(traffic.slowest)),
  ]
  const heads = runs.map(({ name }) => name.replace(' + ', '\n+ '))
  const table = renderTable({ heads, groups: [counted, measured] }, colour)
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
