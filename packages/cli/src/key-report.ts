import { json } from '@cattlegrid/core'
import { type Entry, type Inspection, judgeTags } from '@cattlegrid/core/extend'
import { CommandError, reasonOf } from './command-error.ts'
import type { Connection } from './connection.ts'
import { type ShownValue, showValue } from './http-value.ts'
import { storedKeyOf } from './operands.ts'
import { displayKey } from './print.ts'

/** The contents of a key, judged at one moment; times in ms. */
export interface KeyReport {
  readonly key: string
  /** The key itself, or the digest in place of a long one. */
  readonly storedAs: string
  readonly state: 'fresh' | 'stale' | 'gone'
  readonly entry: Entry | undefined
  /** The entry's value; undefined without an entry. */
  readonly shown: ShownValue | undefined
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

/** Reads a key. `key`: as a caller of the cache names it, or as it is stored. */
export async function reportOn(connection: Connection, key: string): Promise<KeyReport> {
  const storedAs = storedKeyOf(key)
  const { tagVoided, notes, ...contents } = await readKey(connection, storedAs)
  const now = connection.runtime.now()
  const { entry } = contents
  if (entry === undefined) {
    return { key, storedAs, state: 'gone', shown: undefined, age: 0, freshFor: 0, notes, ...contents }
  }
  const shown = showValue(entry.value)
  const freshFor = entry.freshUntil - now
  const usableFor = freshFor + Math.max(entry.staleWhileRevalidate, entry.staleIfError)
  const state = tagVoided || usableFor <= 0 ? 'gone' : freshFor > 0 ? 'fresh' : 'stale'
  const age = Math.max(0, now - entry.committedAt)
  return { key, storedAs, state, shown, age, freshFor, notes: [...notes, ...shown.notes], ...contents }
}

/** Inspects the key. If that finds no entry, a `read` may say what else is stored there. */
async function readKey(connection: Connection, key: string): Promise<KeyContents> {
  const inspection = await connection.inspect(key).catch(returnCommandError)
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
