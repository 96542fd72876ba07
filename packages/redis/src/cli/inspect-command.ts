import { type Entry, type Inspection, json, judgeTags } from '@cattlegrid/core'
import type { CommandContext, Command } from './command.ts'
import { CommandError, reasonOf } from './command-error.ts'
import type { Connection } from './connection.ts'
import {
  jsonLine,
  displayKey,
  displayKeys,
  type Row,
  formatSize,
  table,
  formatDuration,
  escapeControls,
} from './print.ts'
import { jsonValue, valueLines } from './value.ts'

/** The contents of a key, judged at one moment; times in ms. */
interface KeyReport {
  readonly key: string
  readonly state: 'fresh' | 'stale' | 'gone'
  readonly entry: Entry | undefined
  readonly age: number
  /** Negative once the entry is stale. */
  readonly freshFor: number
  readonly lease: Inspection['lease']
  readonly cooldown: Inspection['cooldown']
  /** Anything unusual. */
  readonly notes: readonly string[]
}

/** `tagVoided`: whether one of the entry's tags was invalidated. */
type KeyContents = Pick<KeyReport, 'entry' | 'lease' | 'cooldown' | 'notes'> & { readonly tagVoided: boolean }

export const inspectCommand: Command = {
  name: 'inspect',
  synopsis: '<key>',
  summary: 'shows the entry, the lease and the cooldown of a key',
  details: `The state is fresh, stale or gone.
An entry is gone, too, if one of its tags was invalidated, and stale if one was expired. A key without an entry is not an error.
Long values are shortened; --json prints them completely.`,
  operandError(operands) {
    if (operands.length === 1) return undefined
    return `'inspect' takes one key; ${operands.length === 0 ? 'none was given' : `${operands.length} were given`}.`
  },
  async run({ connection, operands: [key = ''], json: asJson, terminal }: CommandContext) {
    const report = reportOn(key, await readKey(connection, key), connection.runtime.now())
    terminal.out(asJson ? jsonLine(documentOf(report)) : table(rowsOf(report)))
  },
}

/** Inspects the key. If that finds no entry, a `read` may say what else is stored there. */
async function readKey(connection: Connection, key: string): Promise<KeyContents> {
  const inspection = await connection.request((store) => store.inspect(key)).catch(returnCommandError)
  const lease = inspection instanceof CommandError ? undefined : inspection.lease
  const cooldown = inspection instanceof CommandError ? undefined : inspection.cooldown
  if (!(inspection instanceof CommandError) && inspection.entry !== undefined) {
    return { lease, cooldown, ...(await judgeEntry(connection, inspection.entry)) }
  }
  const read = await connection.request((store) => store.read(key, json))
  const failed = inspection instanceof CommandError ? [`The lease could not be read. ${inspection.message}`] : []
  if (read.kind === 'found') {
    const { notes, ...judged } = await judgeEntry(connection, read.entry)
    return { lease, cooldown, notes: [...notes, ...failed], ...judged }
  }
  const foreign = read.because === undefined ? [] : [`No readable entry: ${reasonOf(read.because.cause)}`]
  return { entry: undefined, lease, cooldown, notes: [...foreign, ...failed], tagVoided: false }
}

function returnCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error
  throw error
}

/** Judges the entry by its tags, with one note for each tag that voids or expires it. */
async function judgeEntry(
  connection: Connection,
  entry: Entry,
): Promise<Pick<KeyContents, 'entry' | 'notes' | 'tagVoided'>> {
  const { tags, tagSeq } = entry
  if (tags.length === 0) return { entry, notes: [], tagVoided: false }
  const { numbers } = await connection.request((store) => store.tagNumbers(tags))
  const notes = tags.flatMap((tag, index) => {
    const number = numbers[index]
    if (number === undefined) return [`The number of tag ${displayKey(tag)} is lost, so the entry is void`]
    if (number.invalidated > tagSeq) return [`Tag ${displayKey(tag)} was invalidated after the load began`]
    return number.expired > tagSeq ? [`Tag ${displayKey(tag)} was expired after the load began`] : []
  })
  const judged = judgeTags(entry, numbers)
  return { entry: judged ?? entry, notes, tagVoided: judged === undefined }
}

function reportOn(key: string, { tagVoided, ...contents }: KeyContents, now: number): KeyReport {
  const { entry } = contents
  if (entry === undefined) return { key, state: 'gone', age: 0, freshFor: 0, ...contents }
  const freshFor = entry.freshUntil - now
  const usableFor = freshFor + Math.max(entry.staleWhileRevalidate, entry.staleIfError)
  const state = tagVoided || usableFor <= 0 ? 'gone' : freshFor > 0 ? 'fresh' : 'stale'
  return { key, state, age: Math.max(0, now - entry.committedAt), freshFor, ...contents }
}

function rowsOf({ key, state, entry, age, freshFor, lease, cooldown, notes }: KeyReport): readonly Row[] {
  const entryRows: readonly Row[] =
    entry === undefined
      ? []
      : [
          ['age', formatDuration(age)],
          ['fresh for', freshFor > 0 ? formatDuration(freshFor) : `no longer, since ${formatDuration(-freshFor)}`],
          ['stale for', state === 'gone' ? 'no longer' : staleWindows(entry, freshFor)],
          ['value', ...valueLines(entry.value)],
          ['size', formatSize(entry.size)],
          ['load time', formatDuration(entry.loadTime)],
          ['tags', entry.tags.length === 0 ? 'none' : displayKeys(entry.tags)],
        ]
  const noteRows: readonly Row[] = notes.length === 0 ? [] : [['note', ...notes.map(escapeControls)]]
  return [
    ['key', displayKey(key)],
    ['state', state],
    ...entryRows,
    ['lease', leaseLine(lease)],
    ['cooldown', cooldownLine(cooldown)],
    ...noteRows,
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
  const awaited = lease.awaited ? 'awaited' : 'not awaited'
  return `held for ${formatDuration(lease.heldFor)}, ${formatDuration(lease.remaining)} remaining, ${awaited}`
}

function cooldownLine(cooldown: KeyReport['cooldown']): string {
  if (cooldown === undefined) return 'none'
  const { remaining, attempts, failure } = cooldown
  const reason = failure.code === undefined ? failure.name : `${failure.name} ${failure.code}`
  return `${formatDuration(remaining)} remaining, after ${attempts} failed ${attempts === 1 ? 'load' : 'loads'}: ${escapeControls(reason)}`
}

function documentOf({ key, state, entry, age, freshFor, lease, cooldown, notes }: KeyReport): object {
  return {
    key,
    state,
    entry: entry === undefined ? null : entryDocument(entry, age, freshFor),
    lease: lease === undefined ? null : { ...lease, heldFor: Math.round(lease.heldFor) },
    cooldown: cooldown ?? null,
    notes,
  }
}

function entryDocument(entry: Entry, age: number, freshFor: number): object {
  const { staleWhileRevalidate, staleIfError, loadTime, tags, size: bytes } = entry
  return {
    age: Math.round(age),
    freshFor: Math.round(freshFor),
    staleWhileRevalidate,
    staleIfError,
    loadTime,
    size: bytes,
    tags,
    ...jsonValue(entry.value),
  }
}
