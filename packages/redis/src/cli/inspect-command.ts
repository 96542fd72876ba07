import { type Entry, type Inspection, json } from '@cattlegrid/core'
import type { Call, Command } from './command.ts'
import { Complaint, reasonOf } from './complaint.ts'
import type { Connection } from './connection.ts'
import { jsonLine, named, namedList, type Row, size, table, time, visible } from './print.ts'
import { jsonValue, valueLines } from './value.ts'

/** What stands at a key, judged at one moment; times in ms. */
interface Sight {
  readonly key: string
  readonly state: 'fresh' | 'stale' | 'gone'
  readonly entry: Entry | undefined
  readonly age: number
  /** Negative once it is not fresh any more. */
  readonly freshFor: number
  readonly lease: Inspection['lease']
  readonly cooldown: Inspection['cooldown']
  /** What a person would wonder about. */
  readonly notes: readonly string[]
}

type Found = Pick<Sight, 'entry' | 'lease' | 'cooldown' | 'notes'> & { readonly fallen: boolean }

export const inspectCommand: Command = {
  name: 'inspect',
  synopsis: '<key>',
  summary: 'shows what stands at a key: its entry, its lease, its cooldown',
  details: `The state is fresh, stale or gone.
An entry one of whose tags was invalidated is gone; so is a key with nothing at it, which is no error.
Values are shortened: --json has them whole.`,
  objection(operands) {
    if (operands.length === 1) return undefined
    return `'inspect' takes one key, and ${operands.length === 0 ? 'none is given' : `${operands.length} are given`}.`
  },
  async run({ connection, operands: [key = ''], json: forProgram, terminal }: Call) {
    const sight = judged(key, await look(connection, key), connection.runtime.now())
    terminal.out(forProgram ? jsonLine(documentOf(sight)) : table(rowsOf(sight)))
  },
}

/** `inspect` tells of an entry and its lease; where it sees no entry, a `read` can say what else stands there. */
async function look(connection: Connection, key: string): Promise<Found> {
  const seen = await connection.ask((store) => store.inspect(key)).catch(asComplaint)
  const lease = seen instanceof Complaint ? undefined : seen.lease
  const cooldown = seen instanceof Complaint ? undefined : seen.cooldown
  if (!(seen instanceof Complaint) && seen.entry !== undefined) {
    const notes = await fallenTags(connection, seen.entry)
    return { entry: seen.entry, lease, cooldown, notes, fallen: notes.length > 0 }
  }
  const read = await connection.ask((store) => store.read(key, json))
  const failed = seen instanceof Complaint ? [`The lease could not be read. ${seen.message}`] : []
  if (read.kind === 'found') {
    const notes = await fallenTags(connection, read.entry)
    return { entry: read.entry, lease, cooldown, notes: [...notes, ...failed], fallen: notes.length > 0 }
  }
  const foreign = read.because === undefined ? [] : [`Nothing of ours: ${reasonOf(read.because.cause)}`]
  return { entry: undefined, lease, cooldown, notes: [...foreign, ...failed], fallen: false }
}

function asComplaint(error: unknown): Complaint {
  if (error instanceof Complaint) return error
  throw error
}

/** A note for each tag for which the entry does not count any more. */
async function fallenTags(connection: Connection, { tags, tagSeq }: Entry): Promise<readonly string[]> {
  if (tags.length === 0) return []
  const { numbers } = await connection.ask((store) => store.tagNumbers(tags))
  return tags.flatMap((tag, index) => {
    const number = numbers[index]
    if (number === undefined) return [`The number of tag ${named(tag)} is lost, so the entry does not count any more`]
    return number > tagSeq ? [`Tag ${named(tag)} was invalidated after the load began`] : []
  })
}

function judged(key: string, { fallen, ...found }: Found, now: number): Sight {
  const { entry } = found
  if (entry === undefined) return { key, state: 'gone', age: 0, freshFor: 0, ...found }
  const freshFor = entry.freshUntil - now
  const usableFor = freshFor + Math.max(entry.staleWhileRevalidate, entry.staleIfError)
  const state = fallen || usableFor <= 0 ? 'gone' : freshFor > 0 ? 'fresh' : 'stale'
  return { key, state, age: Math.max(0, now - entry.committedAt), freshFor, ...found }
}

function rowsOf({ key, state, entry, age, freshFor, lease, cooldown, notes }: Sight): readonly Row[] {
  const entryRows: readonly Row[] =
    entry === undefined
      ? []
      : [
          ['age', time(age)],
          ['fresh for', freshFor > 0 ? time(freshFor) : `no more, since ${time(-freshFor)}`],
          ['stale for', state === 'gone' ? 'no more' : staleWindows(entry, freshFor)],
          ['value', ...valueLines(entry.value)],
          ['size', size(entry.size)],
          ['load time', time(entry.loadTime)],
          ['tags', entry.tags.length === 0 ? 'none' : namedList(entry.tags)],
        ]
  const noteRows: readonly Row[] = notes.length === 0 ? [] : [['note', ...notes.map(visible)]]
  return [
    ['key', named(key)],
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
    [left(staleWhileRevalidate), 'while it is refreshed'],
    [left(staleIfError), 'if loads fail'],
  ] as const
  const open = windows.filter(([rest]) => rest > 0).map(([rest, when]) => `${time(rest)} ${when}`)
  return open.length === 0 ? 'not at all' : open.join(', ')
}

function leaseLine(lease: Sight['lease']): string {
  if (lease === undefined) return 'none'
  const awaited = lease.awaited ? 'awaited' : 'nobody waits'
  return `held for ${time(lease.heldFor)}, ${time(lease.remaining)} remaining, ${awaited}`
}

function cooldownLine(cooldown: Sight['cooldown']): string {
  if (cooldown === undefined) return 'none'
  const { remaining, attempts, failure } = cooldown
  const reason = failure.code === undefined ? failure.name : `${failure.name} ${failure.code}`
  return `${time(remaining)} remaining, after ${attempts} failed ${attempts === 1 ? 'load' : 'loads'}: ${visible(reason)}`
}

function documentOf({ key, state, entry, age, freshFor, lease, cooldown, notes }: Sight): object {
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
