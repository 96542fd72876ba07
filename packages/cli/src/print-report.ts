import { type Entry, formatDuration } from '@cattlegrid/core/extend'
import type { KeyReport } from './key-report.ts'
import { displayKey, displayKeys, escapeControls, formatSize, type Row } from './print.ts'

/** A report as `inspect` prints it for people. */
export function rowsOf(report: KeyReport): readonly Row[] {
  const { key, storedAs, state, lease, cooldown, notes } = report
  const storedRows: readonly Row[] = storedAs === key ? [] : [['stored as', displayKey(storedAs)]]
  const noteRows: readonly Row[] = notes.length === 0 ? [] : [['note', ...notes.map(escapeControls)]]
  return [
    ['key', displayKey(key)],
    ...storedRows,
    ['state', state],
    ...entryRows(report),
    ['lease', leaseLine(lease)],
    ['cooldown', cooldownLine(cooldown)],
    ...noteRows,
  ]
}

function entryRows({ state, entry, shown, age, freshFor }: KeyReport): readonly Row[] {
  if (entry === undefined || shown === undefined) return []
  return [
    ['age', formatDuration(age)],
    ['fresh for', freshFor > 0 ? formatDuration(freshFor) : `no longer, since ${formatDuration(-freshFor)}`],
    ['stale for', state === 'gone' ? 'no longer' : staleWindows(entry, freshFor)],
    ...shown.rows,
    ['size', formatSize(entry.size)],
    ['load time', formatDuration(entry.loadTime)],
    ['tags', entry.tags.length === 0 ? 'none' : displayKeys(entry.tags)],
  ]
}

function staleWindows({ staleWhileRevalidate, staleIfError }: Entry, freshFor: number): string {
  const left = (window: number): number => Math.min(window, freshFor + window)
  const windows = [
    [left(staleWhileRevalidate), 'during a refresh'],
    [left(staleIfError), 'if loads fail'],
  ] as const
  const open = windows.filter(([rest]) => rest > 0).map(([rest, when]) => `${formatDuration(rest)} ${when}`)
  return open.length === 0 ? 'not at all' : open.join(', ')
}

function leaseLine(lease: KeyReport['lease']): string {
  if (lease === undefined) return 'none'
  const { heldFor, remaining, awaited, holder } = lease
  const by = holder === undefined ? '' : ` by pid ${holder.pid} on ${escapeControls(holder.host)}`
  const wait = awaited ? 'awaited' : 'not awaited'
  return `held${by} for ${formatDuration(heldFor)}, ${formatDuration(remaining)} remaining, ${wait}`
}

function cooldownLine(cooldown: KeyReport['cooldown']): string {
  if (cooldown === undefined) return 'none'
  const { remaining, attempts, failure } = cooldown
  const { name, code = '' } = failure
  const loads = attempts === 1 ? 'load' : 'loads'
  return `${formatDuration(remaining)} remaining, after ${attempts} failed ${loads}: ${escapeControls(`${name} ${code}`.trimEnd())}`
}

/** A report as a JSON document. */
export function documentOf(report: KeyReport): object {
  const { key, storedAs, state, entry, shown, lease, cooldown, notes } = report
  return {
    key,
    storedAs,
    state,
    entry: entry === undefined ? null : { ...entryDocument(entry, report), ...shown?.json },
    lease: lease === undefined ? null : { ...lease, heldFor: Math.round(lease.heldFor) },
    cooldown: cooldown ?? null,
    notes,
  }
}

function entryDocument(entry: Entry, { age, freshFor }: KeyReport): object {
  const { staleWhileRevalidate, staleIfError, loadTime, tags, size } = entry
  return {
    age: Math.round(age),
    freshFor: Math.round(freshFor),
    staleWhileRevalidate,
    staleIfError,
    loadTime,
    size,
    tags,
  }
}
