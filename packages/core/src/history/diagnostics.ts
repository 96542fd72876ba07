import { hostname } from 'node:os'
import type { Events } from '../events/events.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type Answer, encodeAnswer, type HistoryProcess, parseQuestion, type Question } from './exchange.ts'
import { History } from './history.ts'
import { HotKeys } from './hot-keys.ts'
import type { RecordedEvent } from './recorded-event.ts'

/** What a cache keeps for people; undefined: nothing. */
export interface DiagnosticsLimits {
  readonly history: number
  readonly hotKeys: { readonly size: number; readonly plain: boolean } | undefined
}

/** What one cache remembers of its own work in this process, and tells others that ask. */
export class Diagnostics {
  readonly process: HistoryProcess
  readonly id: string
  readonly #history: History | undefined
  readonly #hotKeys: HotKeys | undefined
  readonly #runtime: Runtime
  readonly #shareMessages: boolean

  constructor(events: Events, runtime: Runtime, { history, hotKeys }: DiagnosticsLimits, shareMessages: boolean) {
    this.process = { pid: process.pid, host: hostname(), name: events.cacheName }
    this.id = runtime.token()
    this.#runtime = runtime
    this.#shareMessages = shareMessages
    this.#history = history > 0 ? new History(history, runtime) : undefined
    this.#hotKeys = hotKeys && new HotKeys(hotKeys.size, hotKeys.plain)
    this.#history?.listenTo(events)
    this.#hotKeys?.listenTo(events)
  }

  /** True when it keeps events. */
  get remembers(): boolean {
    return this.#history !== undefined
  }

  /** True when it keeps neither events nor hot keys. */
  get keepsNothing(): boolean {
    return (this.#history ?? this.#hotKeys) === undefined
  }

  /** The answer to a question of this process. */
  answer(question: Question): Answer {
    const { id, process: asked } = this
    const events = question.kind === 'history' ? this.#history?.of(question.key, question.tags) : undefined
    const hotKeys = question.kind === 'hot-keys' ? this.#hotKeys?.list() : undefined
    return { id, process: asked, at: this.#runtime.timeOfDay(), events: events ?? [], hotKeys }
  }

  /** The answer to a question of another process, as text; undefined if it does not understand the question, or keeps nothing. */
  readonly answerText = (text: string): string | undefined => {
    const question = parseQuestion(text)
    if (question === undefined || this.keepsNothing) return undefined
    const answer = this.answer(question)
    return encodeAnswer(this.#shareMessages ? answer : { ...answer, events: answer.events.map(withoutMessage) })
  }
}

/** Messages may hold SQL and host names. */
function withoutMessage({ failure, ...event }: RecordedEvent): RecordedEvent {
  return { ...event, failure: failure && { name: failure.name, code: failure.code } }
}
