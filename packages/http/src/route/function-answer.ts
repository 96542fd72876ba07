import { failureOf, type OptionRule } from '@cattlegrid/core/extend'
import { warn } from '../warnings.ts'

/** What a function among the options may answer, and what that means where it answers anything else. */
export interface AnswerRule<T> extends OptionRule<T> {
  /** The answers other than those of the rule that are meant, and say that nothing is cached. */
  means(answer: unknown): boolean
  /** Names what happens to the request, or to its response. */
  readonly consequence: string
}

const ANSWERS_NOW = 'await in a middleware or hook before the cache, keep the result on the request, and return that'

/**
 * Asks one function among the options. An answer that is not accepted caches nothing, for as long as the
 * function stays as it is: the first one is told, as a warning, and so is the first error. No request fails
 * by it.
 */
export class FunctionAnswer<T> {
  readonly #name: string
  readonly #ask: (...args: readonly unknown[]) => unknown
  readonly #rule: AnswerRule<T>
  #told = false

  /** `name`: the option, with the function that got it. */
  constructor(name: string, ask: unknown, rule: AnswerRule<T>) {
    this.#name = name
    this.#ask = ask as (...args: readonly unknown[]) => unknown
    this.#rule = rule
  }

  /** The accepted answer; undefined for any other, and for an error. */
  to(...args: readonly unknown[]): T | undefined {
    try {
      return this.#accepted(this.#ask(...args))
    } catch (error) {
      // Its name and code alone: a message may quote the request.
      const { name, code = '' } = failureOf(error)
      this.#tell(`threw ${`${name} ${code}`.trimEnd()}`, '')
      return undefined
    }
  }

  #accepted(answer: unknown): T | undefined {
    if (isPromise(answer)) {
      // Its rejection must not end the process.
      Promise.resolve(answer).catch(() => undefined)
      this.#tell('returned a promise', `, and now: ${ANSWERS_NOW}`)
      return undefined
    }
    const accepted = this.#rule.parse(answer)
    if (accepted === undefined && !this.#rule.means(answer)) this.#tell(`returned ${nameOf(answer)}`, '')
    return accepted
  }

  #tell(did: string, when: string): void {
    if (this.#told) return
    this.#told = true
    const { accepted, consequence } = this.#rule
    warn('CATTLEGRID_OPTION_ANSWER', `${this.#name} ${did}, so ${consequence}. It must return ${accepted}${when}.`)
  }
}

function isPromise(answer: unknown): answer is PromiseLike<unknown> {
  return typeof (answer as PromiseLike<unknown> | null | undefined)?.then === 'function'
}

/** The kind of an answer, not the answer: it may be what only its client should know. */
function nameOf(answer: unknown): string {
  if (answer === null || answer === undefined) return String(answer)
  if (Array.isArray(answer)) {
    const wrong = answer.findIndex((element) => typeof element !== 'string')
    return wrong === -1 ? 'another list' : `a list whose element ${wrong} is ${nameOf(answer[wrong])}`
  }
  return typeof answer === 'string' ? 'a text' : `${typeof answer === 'object' ? 'an' : 'a'} ${typeof answer}`
}
