import type { Failure } from '@cattlegrid/core'
import { formatDuration } from '@cattlegrid/core/extend'
import type { HistoryProcess } from './exchange.ts'
import type { RecordedField, RecordedEvent, RecordedType } from './recorded-event.ts'

/**
 * An event with the process in which it occurred. `at` and `until`: ms since 1970 by the clock of the process
 * that asked.
 */
export interface ExplainedEvent extends RecordedEvent {
  readonly process: HistoryProcess
}

/** Events of one process that follow one another within this time are one sentence, ms. */
const ONE_SENTENCE = 10

/**
 * The events as sentences, in their order: `12:03:04.120 pid 41: miss: tag a was invalidated 3.0 s ago
 * · leads`.
 */
export function timelineSentences(
  events: readonly ExplainedEvent[],
  nameOf: (process: HistoryProcess) => string,
): readonly string[] {
  const sentences: { readonly first: ExplainedEvent; readonly parts: string[] }[] = []
  for (const [index, event] of events.entries()) {
    const last = sentences.at(-1)
    const part = phraseOf(event, events.slice(0, index))
    const continues = last?.first.process === event.process && event.at - last.first.at <= ONE_SENTENCE
    if (last !== undefined && continues) last.parts.push(part)
    else sentences.push({ first: event, parts: [part] })
  }
  return sentences.map(({ first, parts }) => `${clock.format(first.at)} ${nameOf(first.process)}: ${parts.join(' · ')}`)
}

/** The time of day, in the time zone of this process. */
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

type Fields = Readonly<Record<string, RecordedField>>
type Phrase = (fields: Fields, event: RecordedEvent) => string

const time = (field: RecordedField | undefined): string => formatDuration(Number(field ?? 0))
const calls = (count: number): string => `${count} ${count === 1 ? 'call' : 'calls'}`

const phrases: { readonly [T in Exclude<RecordedType, 'miss'>]: Phrase } = {
  answer: ({ status, role }, { count, failure }) =>
    `${calls(count)} answered: ${String(status)}${role === 'leader' || role === 'follower' ? ` (${role})` : ''}${because(failure)}`,
  join: (_, { count }) => `${count} more ${count === 1 ? 'call waits' : 'calls wait'} for this refresh`,
  lead: ({ attempt, takeover }) =>
    `leads, attempt ${String(attempt)}${takeover === true ? ', after the lease for which it waited' : ''}`,
  follow: ({ remaining, pid, host }) =>
    `waits: the lease is held by ${holderName(pid, host)}, ${time(remaining)} remain`,
  wake: ({ by }) => (by === 'notice' ? 'is woken' : 'looks again, by its timer'),
  load: ({ leased }) => (leased === true ? 'loads' : 'loads without a lease'),
  outcome: outcomePhrase,
  commit: ({ ttl }) => `stored, fresh for ${time(ttl)}`,
  refused: ({ why }) => `the store refused the value: the lease is ${String(why)}`,
  violation: () => 'the store stored a value whose lease it had refused to renew',
  'lease-lost': ({ why }) => `lost its lease (${String(why)})`,
  'load-failed': ({ cooldown }) => `the key cools down for ${time(cooldown)}`,
  cooling: ({ remaining }) => `does not load: the key cools down for another ${time(remaining)}`,
  'wait-timeout': ({ waited }) => `a call gave up after ${time(waited)}`,
  invalidate: invalidatePhrase,
  'encode-failed': (_, { failure }) => `the value cannot be encoded${because(failure)}`,
  'too-large': (_, { failure }) => `the value is too large to be stored${because(failure)}`,
  unreadable: ({ why }, { failure }) => `the bytes at the key are ${String(why)}${because(failure)}`,
  away: ({ step }, { failure }) => `the store did not answer ${String(step)}${because(failure)}`,
  breaker: ({ state }, { failure }) =>
    state === 'open' ? `the store is away: it is not asked for a while${because(failure)}` : 'the store answers again',
  'load-limit': ({ source, limit }) =>
    `all processes run ${String(limit)} loads at once from the source '${String(source)}'`,
  notices: ({ state }) => (state === 'connected' ? 'notices arrive' : 'the connection for notices is lost'),
  'observer-failed': ({ event }, { failure }) => `a listener of '${String(event)}' failed${because(failure)}`,
  close: () => 'the cache was closed',
}

/** The events that a history keeps: those that have a phrase. */
export const recordedTypes = ['miss', ...Object.keys(phrases)] as readonly RecordedType[]

function phraseOf(event: RecordedEvent, before: readonly RecordedEvent[]): string {
  if (event.type === 'miss') return missPhrase(event, before)
  // A later version may know further events.
  const phrase: Phrase | undefined = phrases[event.type]
  return phrase === undefined ? event.type : phrase(event.fields, event)
}

function outcomePhrase({ outcome, why, took }: Fields, { failure }: RecordedEvent): string {
  if (outcome === 'committed') return `the load took ${time(took)}`
  if (outcome === 'failed') return `the load failed after ${time(took)}${because(failure)}`
  const reason = why === undefined ? '' : `, ${String(why)}`
  return `the load took ${time(took)}, and nothing is stored (${String(outcome)}${reason})`
}

function invalidatePhrase({ how, tags }: Fields): string {
  if (how === 'tags' || how === 'expire-tags') return `${tagNames(tags)} ${how === 'tags' ? 'invalidated' : 'expired'}`
  if (how === 'clear') return 'everything was removed (clear)'
  if (how === 'set') return 'a value was set'
  return how === 'delete' ? 'deleted' : 'expired by hand'
}

function tagNames(tags: RecordedField | undefined): string {
  const names = Array.isArray(tags) ? (tags as readonly string[]) : []
  return `${names.length === 1 ? 'tag' : 'tags'} ${names.join(', ')}`
}

/** The most likely reason of a miss: the last change of the key before it. */
function missPhrase({ at, count }: RecordedEvent, before: readonly RecordedEvent[]): string {
  const who = count === 1 ? 'miss' : `miss of ${count} calls`
  const change = before.findLast(({ type }) => type === 'commit' || type === 'invalidate')
  if (change === undefined) return `${who}: no earlier value is remembered`
  const ago = at - change.at
  if (change.type === 'invalidate') return `${who}: ${invalidatePhrase(change.fields)} ${formatDuration(ago)} ago`
  const staleFor = ago - Number(change.fields['ttl'])
  return staleFor >= 0
    ? `${who}: the value expired ${formatDuration(staleFor)} ago`
    : `${who}, ${formatDuration(ago)} after a commit`
}

function because(failure: Failure | undefined): string {
  return failure === undefined ? '' : ` (${failureText(failure)})`
}

/** The name, the code and the message of an error, as far as they are known. */
export function failureText({ name, code, message }: Failure): string {
  return `${name}${code === undefined ? '' : ` ${code}`}${message === undefined ? '' : `: ${message}`}`
}

export function holderName(pid: RecordedField | undefined, host: RecordedField | undefined): string {
  return pid === undefined ? 'another process' : `pid ${String(pid)} on ${String(host)}`
}
