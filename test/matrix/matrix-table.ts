import type { Cell, ProcessReport } from './cell.ts'
import { FAULTS } from './faults.ts'
import { KEY_KINDS, type KeyKind, type Recovery } from './report.ts'
import { BOUND } from './verdict.ts'

const HEAD = [
  'fault',
  'via',
  'key',
  'lookups got',
  'errors',
  'slowest',
  'lookup',
  'loads',
  'writes',
  'back',
  'stalled',
  'processes',
]

/** The cells for people: three lines each, one for a kind of key. */
export function matrixTable(cells: readonly Cell[]): string {
  const rows = cells.flatMap((cell) => KEY_KINDS.map((kind, line) => row(cell, kind, line === 0)))
  const widths = HEAD.map((title, column) => Math.max(title.length, ...rows.map((texts) => texts[column]?.length ?? 0)))
  const print = (texts: readonly string[]): string =>
    texts
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [
    print(HEAD),
    print(widths.map((width) => '─'.repeat(width))),
    ...rows.map(print),
    '',
    `slowest, lookup: the slowest answer of getOrSet and of lookup, ms (! above ${BOUND}; a leader's lookup also waits for its commit)`,
    'loads: the most of one process, key and wave · back: until reads and writes reach Redis again, ms',
    'stalled: the longest time for which the machine gave a process no turn, ms',
  ].join('\n')
}

function row(cell: Cell, kind: KeyKind, first: boolean): string[] {
  const seen = cell.processes.flatMap(({ keys }) => (keys === undefined ? [] : [keys[kind]]))
  const title = FAULTS.find(({ name }) => name === cell.fault)?.title ?? cell.fault
  const most = (numbers: readonly number[]): number => Math.round(Math.max(0, ...numbers))
  const stalled = String(most(cell.processes.map((report) => report.stalled ?? 0)))
  const marked = (took: number): string => (took > BOUND ? `${took} !` : String(took))
  return [
    first ? title : '',
    first ? cell.via : '',
    kind,
    shares(seen.map(({ answers }) => answers)),
    counts(seen.map(({ errors, hung }) => (hung > 0 ? { ...errors, hung } : errors))),
    marked(most(seen.flatMap(({ slowest }) => slowest))),
    marked(most(seen.flatMap(({ slowestLookup }) => slowestLookup))),
    String(most(seen.flatMap(({ loads }) => loads))),
    ...(first
      ? [writesOf(cell.processes), backOf(cell.processes), stalled, healthOf(cell.processes)]
      : ['', '', '', '']),
  ]
}

function sum(counted: readonly Readonly<Record<string, number>>[]): [string, number][] {
  const total = new Map<string, number>()
  for (const [name, times] of counted.flatMap((one) => Object.entries(one)))
    total.set(name, (total.get(name) ?? 0) + times)
  return [...total].toSorted(([, a], [, b]) => b - a)
}

function shares(counted: readonly Readonly<Record<string, number>>[]): string {
  const summed = sum(counted)
  const all = summed.reduce((total, [, times]) => total + times, 0)
  return summed.map(([name, times]) => `${Math.round((100 * times) / all)} % ${name}`).join(', ')
}

function counts(counted: readonly Readonly<Record<string, number>>[]): string {
  return (
    sum(counted)
      .map(([name, times]) => `${times} ${name}`)
      .join(', ') || '–'
  )
}

/** Whether each write was done, refused, or both in turn. */
function writesOf(processes: readonly ProcessReport[]): string {
  const ended = new Set(processes.flatMap(({ writes }) => Object.values(writes ?? {}).flat()))
  return [...ended]
    .map((how) => how.replace('CATTLEGRID_', ''))
    .toSorted()
    .join(', ')
}

function backOf(processes: readonly ProcessReport[]): string {
  const slowest = (of: 'reads' | 'writes'): string => {
    const times = processes.flatMap(({ recovery }) => (recovery === undefined ? [] : [recovery])).map(ms(of))
    return times.includes(Infinity) ? 'never' : String(Math.round(Math.max(0, ...times)))
  }
  return `${slowest('reads')} / ${slowest('writes')}`
}

function ms(of: 'reads' | 'writes'): (recovery: Recovery) => number {
  return (recovery) => recovery[of] ?? Infinity
}

function healthOf(processes: readonly ProcessReport[]): string {
  const alive = processes.filter((report) => report.alive).length
  const trouble = processes.flatMap((report) => report.trouble ?? []).length
  return `${alive}/${processes.length} alive${trouble === 0 ? '' : `, ${trouble} troubles`}`
}
