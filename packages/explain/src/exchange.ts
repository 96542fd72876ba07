import type { WeighedKeys } from './hot-keys.ts'
import type { RecordedEvent } from './recorded-event.ts'

/** A process that answers, by one of its caches. */
export interface HistoryProcess {
  readonly pid: number
  readonly host: string
  /** The `name` of its cache. */
  readonly name: string
}

/** A question of one process to all that use the store. */
export type Question =
  { readonly kind: 'history'; readonly key: string; readonly tags: readonly string[] } | { readonly kind: 'hot-keys' }

/** The answer of one cache. */
export interface Answer {
  /** Identifies the cache. */
  readonly id: string
  readonly process: HistoryProcess
  /** The time of day in its process, ms since 1970. */
  readonly at: number
  readonly events: readonly RecordedEvent[]
  readonly hotKeys: WeighedKeys | undefined
}

const MOST_EVENTS = 200
/** The longest answer, characters. */
const LONGEST_ANSWER = 65_536

/** Undefined for a text that no version of this library has asked. */
export function parseQuestion(text: string): Question | undefined {
  const given = parse(text)
  if (given?.['kind'] === 'hot-keys') return { kind: 'hot-keys' }
  const { kind, key, tags } = given ?? {}
  return kind === 'history' && typeof key === 'string' && isTexts(tags) ? { kind, key, tags } : undefined
}

/** An answer as text; of too many events, the last ones. */
export function encodeAnswer(answer: Answer): string {
  for (let most = MOST_EVENTS; ; most = Math.floor(most / 2)) {
    const text = JSON.stringify({ ...answer, events: most === 0 ? [] : answer.events.slice(-most) })
    if (text.length <= LONGEST_ANSWER || most === 0) return text
  }
}

/** Undefined for a text that is no answer. Events that are none are left out. */
export function parseAnswer(text: string): Answer | undefined {
  const { id, at, process, events, hotKeys } = parse(text) ?? {}
  if (typeof id !== 'string' || typeof at !== 'number' || !isProcess(process) || !Array.isArray(events))
    return undefined
  const { pid, host, name } = process
  return {
    id,
    at,
    process: { pid, host, name },
    events: events.filter(isEvent),
    hotKeys: isWeights(hotKeys) ? hotKeys : undefined,
  }
}

type Fields = Readonly<Record<string, unknown>>

function parse(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isProcess(value: unknown): value is HistoryProcess {
  if (!isFields(value)) return false
  return typeof value['pid'] === 'number' && typeof value['host'] === 'string' && typeof value['name'] === 'string'
}

function isEvent(value: unknown): value is RecordedEvent {
  if (!isFields(value)) return false
  const { type, key, at, until, count, fields, failure } = value
  const timed = [at, until, count].every((one) => typeof one === 'number')
  const named = typeof type === 'string' && (key === undefined || typeof key === 'string')
  return timed && named && isFields(fields) && (failure === undefined || isFailure(failure))
}

function isFailure(value: unknown): boolean {
  return isFields(value) && typeof value['name'] === 'string'
}

function isWeights(value: unknown): value is WeighedKeys {
  if (!isFields(value)) return false
  const { loadTime, followers, unlisted } = value
  const listed = [loadTime, followers].every((list) => Array.isArray(list) && list.every(isWeighed))
  return listed && isFields(unlisted) && [unlisted['loadTime'], unlisted['followers']].every(Number.isFinite)
}

function isWeighed(value: unknown): boolean {
  if (!isFields(value)) return false
  return typeof value['key'] === 'string' && Number.isFinite(value['weight']) && Number.isFinite(value['error'])
}
