import { hostname } from 'node:os'
import type { Cache } from '@cattlegrid/core'
import { type Answer, encodeAnswer, type HistoryProcess, parseQuestion, type Question } from './exchange.ts'
import { History } from './history.ts'
import { HotKeys } from './hot-keys.ts'
import type { Settings } from './options.ts'
import type { RecordedEvent } from './recorded-event.ts'

/** What one cache remembers of its work in this process, and tells others that ask. */
export class Memory {
  readonly process: HistoryProcess
  /** Identifies this memory among the answers. */
  readonly id: string
  readonly #cache: Cache
  readonly #settings: Settings
  readonly #history: History | undefined
  readonly #hotKeys: HotKeys | undefined
  readonly #stops: readonly (() => void)[]

  constructor(cache: Cache, settings: Settings) {
    this.process = { pid: process.pid, host: hostname(), name: cache.name }
    this.id = cache.runtime.token()
    this.#cache = cache
    this.#settings = settings
    this.#history = settings.history > 0 ? new History(settings.history, cache.runtime) : undefined
    this.#hotKeys = settings.hotKeys > 0 ? new HotKeys(settings.hotKeys, settings.plainKeys) : undefined
    this.#stops = [this.#history?.listenTo(cache), this.#hotKeys?.listenTo(cache)].filter((stop) => stop !== undefined)
  }

  /** True when it keeps events. */
  get keepsEvents(): boolean {
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
    return { id, process: asked, at: this.#cache.runtime.timeOfDay(), events: events ?? [], hotKeys }
  }

  /**
   * The answer to another process, as text. Undefined: it keeps nothing, or does not understand the question.
   */
  readonly answerText = (text: string): string | undefined => {
    const question = parseQuestion(text)
    if (question === undefined || this.keepsNothing) return undefined
    const answer = this.answer(question)
    if (this.#settings.shareErrorMessages) return encodeAnswer(answer)
    return encodeAnswer({ ...answer, events: answer.events.map(withoutMessage) })
  }

  /** Hears no further events. */
  close(): void {
    for (const stop of this.#stops) stop()
  }
}

/** Messages may hold SQL and host names. */
function withoutMessage({ failure, ...event }: RecordedEvent): RecordedEvent {
  return { ...event, failure: failure && { name: failure.name, code: failure.code } }
}
