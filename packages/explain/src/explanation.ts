import type { Inspected } from '@cattlegrid/core'
import { formatDuration } from '@cattlegrid/core/extend'
import type { HistoryProcess } from './exchange.ts'
import { type ExplainedEvent, failureText, holderName, timelineSentences } from './timeline.ts'
import type { WeighedKey } from './top-keys.ts'

/** The processes that were asked. */
export interface AskedProcesses {
  /** The caches that answered, this one first. One that keeps nothing is not among them. */
  readonly processes: readonly HistoryProcess[]
  /**
   * The number of processes that received the question and did not answer in time: frozen, busy, or of an
   * older version. Undefined: unknown, as on a cluster.
   */
  readonly unanswered: number | undefined
  /** The reason why no other process was asked. */
  readonly problem: string | undefined
}

/** The result of `explain`: the state of a key, and the events that led to it. */
export interface Explanation extends AskedProcesses {
  /** The key in the store: of a long key, its digest. */
  readonly key: string
  /** The moment of the question, ms since 1970. */
  readonly at: number
  /** Undefined while the store is away. */
  readonly state: Inspected | undefined
  /** Oldest first. Events of other hosts are moved onto this host's clock, where theirs is wrong. */
  readonly events: readonly ExplainedEvent[]
  /** The same as sentences: the events, then the state, then what is missing. */
  readonly sentences: readonly string[]
}

/** The result of `hotKeys`. A key is a digest, such as `#3f9a01bc77d0`, unless its process has `plain`. */
export interface HotKeyReport extends AskedProcesses {
  /** By the time that the loaders took, ms, the greatest first. */
  readonly loadTime: readonly WeighedKey[]
  /** By the calls and flights that waited for a load, the greatest first. */
  readonly followers: readonly WeighedKey[]
}

/** The cache that asks. `keepsEvents`: it keeps a history. */
interface Asking {
  readonly process: HistoryProcess
  readonly keepsEvents: boolean
}

/** The sentences of an explanation. */
export function sentencesOf(
  explanation: Omit<Explanation, 'sentences'>,
  requestedKey: string,
  { process, keepsEvents }: Asking,
): readonly string[] {
  const { key, events, state, processes, problem } = explanation
  const othersAnswered = processes.length > 1 || problem === undefined
  const noEvent = othersAnswered
    ? 'No process that answered remembers an event of the key.'
    : 'No event of the key is remembered.'
  const nameOf = namerOf(processes)
  return [
    ...(key === requestedKey ? [] : [`The key is long: it is stored as ${key}.`]),
    ...timelineSentences(events, nameOf),
    ...(events.length > 0 ? [] : [noEvent]),
    ...stateSentences(state, [process, ...processes], explanation.unanswered),
    ...missing(explanation, keepsEvents),
  ]
}

/** Short names: the host and the cache only where they tell processes apart. */
function namerOf(processes: readonly HistoryProcess[]): (process: HistoryProcess) => string {
  const hosts = new Set(processes.map(({ host }) => host))
  const names = new Set(processes.map(({ name }) => name))
  return ({ pid, host, name }) =>
    `pid ${pid}${hosts.size > 1 ? ` on ${host}` : ''}${names.size > 1 ? ` (${name})` : ''}`
}

function stateSentences(
  state: Inspected | undefined,
  processes: readonly HistoryProcess[],
  unanswered: number | undefined,
): readonly string[] {
  if (state === undefined)
    return ['The store does not answer: each process serves its own copies, and loads on its own.']
  const { cooldown, lease, waitersHere } = state
  const sentences = [entrySentence(state)]
  if (lease !== null && lease !== undefined) sentences.push(leaseSentence(lease, processes, unanswered))
  if (cooldown !== null && cooldown !== undefined) {
    const { remaining, attempts, failure } = cooldown
    const loads = attempts === 1 ? 'the last load' : `the last ${attempts} loads`
    sentences.push(
      `The key cools down: nobody loads it for another ${formatDuration(remaining)}, because ${loads} failed (${failureText({ ...failure, message: undefined })}).`,
    )
  }
  if (waitersHere > 0)
    sentences.push(
      `${waitersHere} ${waitersHere === 1 ? 'call' : 'calls'} of this process ${waitersHere === 1 ? 'waits' : 'wait'} for the load.`,
    )
  return sentences
}

function entrySentence({ state, freshFor = 0, invalidatedTags = [] }: Inspected): string {
  if (state === 'fresh') return `Now: fresh for another ${formatDuration(freshFor)}.`
  if (state === 'stale') return `Now: stale since ${formatDuration(-freshFor)}.`
  if (invalidatedTags.length === 0) return 'Now: the store has no entry of the key.'
  const one = invalidatedTags.length === 1
  return `Now: gone, because the ${one ? 'tag' : 'tags'} ${invalidatedTags.join(', ')} ${one ? 'was' : 'were'} invalidated after its load began.`
}

function leaseSentence(
  { heldFor, remaining, holder }: NonNullable<Inspected['lease']>,
  processes: readonly HistoryProcess[],
  unanswered: number | undefined,
): string {
  const held = `${formatDuration(heldFor)}; unless it is renewed, it ends in ${formatDuration(remaining)}`
  if (holder === undefined) return `The lease is held for ${held}.`
  const answered = processes.some(({ pid, host }) => pid === holder.pid && host === holder.host)
  const silent = !answered && unanswered !== 0 ? ', which did not answer: it may be frozen or dead' : ''
  return `The lease is held by ${holderName(holder.pid, holder.host)}${silent}, for ${held}.`
}

function missing({ unanswered, problem }: AskedProcesses, keepsEvents: boolean): readonly string[] {
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(unanswered === undefined || unanswered === 0
      ? []
      : [
          `${unanswered} ${unanswered === 1 ? 'process' : 'processes'} did not answer in time: frozen, busy, or of an older version.`,
        ]),
    ...(keepsEvents || problem === undefined ? [] : ['This process keeps no history: the option `history` is 0.']),
  ]
}
