import type { HotKeyReport, WeighedKey } from '@cattlegrid/explain'
import type { Command, CommandContext, Weight } from './command.ts'
import { namespaceNotes } from './namespaces.ts'
import { displayKey, jsonLine } from './print.ts'

/** The number of keys that people are shown. */
const MOST_SHOWN = 20

const weights: {
  readonly [W in Weight]: {
    readonly unit: 'ms' | 'calls'
    readonly list: (report: HotKeyReport) => readonly WeighedKey[]
  }
} = {
  'load-time': { unit: 'ms', list: ({ loadTime }) => loadTime },
  followers: { unit: 'calls', list: ({ followers }) => followers },
}

export const topCommand: Command = {
  name: 'top',
  operands: 'none',
  summary: 'lists the keys of all processes that cost most',
  details: `By load-time: the time that the loaders of a key took, ms. By followers: the calls that waited for another one's load.
Both count since the processes called explain() of @cattlegrid/explain. A weight is never too low, and too high by at most its
error: each process counts a bounded number of keys (its option hotKeys). A key is shown as a digest unless its process has
plainKeys; 'inspect' takes the digest, too.
At most ${MOST_SHOWN} keys are shown; --json prints all.`,
  takes: '--by',
  async run({ connection, json, by, terminal }: CommandContext): Promise<void> {
    const report = await connection.askProcesses((diagnosis, timeout) => diagnosis.hotKeys({ timeout }))
    const notes = report.processes.length === 0 ? await namespaceNotes(connection) : []
    terminal.out(json ? jsonLine(documentOf(report, by, notes)) : textOf(report, by, notes))
  },
}

function documentOf(report: HotKeyReport, by: Weight, notes: readonly string[]): object {
  const { unit, list } = weights[by]
  const { processes, unanswered = null } = report
  return { by, unit, keys: list(report), processes, unanswered, notes }
}

function textOf(report: HotKeyReport, by: Weight, notes: readonly string[]): string {
  const { unit, list } = weights[by]
  const all = list(report)
  const shown = all.slice(0, MOST_SHOWN)
  const amount = (value: number): string => `${Math.round(value)} ${value === 1 && unit === 'calls' ? 'call' : unit}`
  const rows = shown.map(({ key, weight, error }) => [displayKey(key), amount(weight), amount(error)])
  const hidden = all.length > shown.length ? [`${all.length - shown.length} more; --json shows all of them`] : []
  const lines = rows.length === 0 ? ['No key has any weight.'] : columns([['key', by, 'error'], ...rows])
  return [...lines, ...hidden, '', ...processSentences(report), ...notes].join('\n')
}

function processSentences({ processes, unanswered }: HotKeyReport): readonly string[] {
  const caches = new Set(processes.map(({ pid, host }) => `${pid} ${host}`)).size
  const answered = `${processes.length} ${processes.length === 1 ? 'cache' : 'caches'} of ${caches} ${caches === 1 ? 'process' : 'processes'} answered.`
  if (unanswered === undefined || unanswered === 0) return [answered]
  return [answered, `${unanswered} ${unanswered === 1 ? 'process' : 'processes'} did not answer in time.`]
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)) + 2)
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('')
      .trimEnd(),
  )
}
