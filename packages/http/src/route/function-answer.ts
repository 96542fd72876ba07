import { INVALID, type OptionRule } from '@cattlegrid/core/internal'

/** What a function among the options may answer, and what that means where it answers anything else. */
export interface AnswerRule<T> extends OptionRule<T> {
  /** The answers other than those of the rule that are meant, and say that nothing is cached. */
  means(answer: unknown): boolean
  /** Names what happens to the request, or to its response. */
  readonly consequence: string
}

const ANSWERS_NOW = 'await in a middleware or hook before the cache, keep the result on the request, and return that'

/**
 * Checks the answers of one function among the options. An answer that is not accepted caches nothing, for as long as the function stays as it is: the first one is
 * told, as a warning. `name`: the option, with the function that got it.
 */
export class FunctionAnswer<T> {
  readonly #name: string
  readonly #rule: AnswerRule<T>
  #told = false

  constructor(name: string, rule: AnswerRule<T>) {
    this.#name = name
    this.#rule = rule
  }

  /** The accepted answer; INVALID for any other. */
  check(answer: unknown): T | typeof INVALID {
    const promised = isPromise(answer)
    // Its rejection must not end the process.
    if (promised) Promise.resolve(answer).catch(() => undefined)
    const accepted = promised ? INVALID : this.#rule.parse(answer)
    if (accepted === INVALID && (promised || !this.#rule.means(answer))) this.#tell(answer, promised)
    return accepted
  }

  #tell(answer: unknown, promised: boolean): void {
    if (this.#told) return
    this.#told = true
    const { accepted, consequence } = this.#rule
    const got = promised ? 'a promise' : nameOf(answer)
    process.emitWarning(
      `${this.#name} returned ${got}, so ${consequence}. It must return ${accepted}${promised ? `, and now: ${ANSWERS_NOW}` : ''}.`,
      { type: 'CattlegridWarning', code: 'CATTLEGRID_OPTION_ANSWER' },
    )
  }
}

export function isPromise(answer: unknown): answer is PromiseLike<unknown> {
  return typeof (answer as PromiseLike<unknown> | null | undefined)?.then === 'function'
}

/** The kind of an answer, not the answer: it may be what only its client should know. */
function nameOf(answer: unknown): string {
  if (answer === null || answer === undefined) return String(answer)
  if (Array.isArray(answer)) return 'another list'
  return typeof answer === 'string' ? 'a text' : `${typeof answer === 'object' ? 'an' : 'a'} ${typeof answer}`
}
