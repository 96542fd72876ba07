import { type Cache, InvalidOptionError } from '@cattlegrid/core'
import { type Away, isDigest, type ProcessQuestions, storedKey } from '@cattlegrid/core/extend'
import { type Answer, parseAnswer, type Question } from './exchange.ts'
import { type AskedProcesses, type Explanation, type HotKeyReport, sentencesOf } from './explanation.ts'
import { mergeWeights } from './hot-keys.ts'
import { Memory } from './memory.ts'
import { type AskOptions, type ExplainOptions, settingsOf, timeoutOf } from './options.ts'
import type { ExplainedEvent } from './timeline.ts'

/**
 * What `explain(cache)` returns: answers to questions about keys, from all processes that have switched
 * it on.
 */
export interface Diagnosis {
  /**
   * Tells the story of a key: its state, and what the processes remember of it, as data and as sentences.
   * `key`: as `getOrSet` takes it, or the digest by which events name a long one. While the store is away,
   * only this process is asked.
   *
   * @example
   * for (const sentence of (await diagnosis.explain('product:7')).sentences) console.log(sentence)
   * @throws InvalidOptionError; InvalidKeyError; ClosedError.
   */
  explain(key: string, options?: AskOptions): Promise<Explanation>
  /**
   * Returns the keys that cost the most load time, and those that the most calls wait for, over
   * all processes.
   *
   * @example
   * const { loadTime, followers } = await diagnosis.hotKeys()
   * console.log(loadTime[0]?.key, followers[0]?.key)
   * @throws InvalidOptionError
   */
  hotKeys(options?: AskOptions): Promise<HotKeyReport>
  /**
   * Ends the recording, and the answers to other processes. The end of the cache does it, too.
   *
   * @example
   * diagnosis.close()
   */
  close(): void
}

/**
 * Records the events of a cache from now on, to tell later why a key came out as it did. Call it once for
 * each cache. Processes on one store that have called it answer each other's questions.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { explain } from '@cattlegrid/explain'
 *
 * const cache = createCache({ ttl: '30s' })
 * const diagnosis = explain(cache)
 * await cache.getOrSet('product:7', async () => ({ id: 7 }))
 * console.log((await diagnosis.explain('product:7')).sentences)
 * @throws InvalidOptionError for an option that is unknown or has an invalid value; for anything but a cache.
 */
export function explain(cache: Cache, options?: ExplainOptions): Diagnosis {
  const settings = settingsOf(options)
  if (typeof (cache as Partial<Cache> | undefined)?.inspect !== 'function')
    throw new InvalidOptionError('explain.cache', cache, 'a cache made by createCache()')
  return new CacheDiagnosis(cache, new Memory(cache, settings))
}

/** A store gets this much longer to answer than the processes, ms. */
const GRACE = 250

/** The answers of all caches that keep something, this one's first. */
interface Gathered extends Pick<AskedProcesses, 'unanswered' | 'problem'> {
  readonly answers: readonly Answer[]
}

class CacheDiagnosis implements Diagnosis {
  readonly #cache: Cache
  readonly #memory: Memory
  /** Undefined: the store cannot ask other processes. */
  readonly #questions: ProcessQuestions | undefined
  readonly #stops: readonly (() => void)[]

  constructor(cache: Cache, memory: Memory) {
    this.#cache = cache
    this.#memory = memory
    this.#questions = (cache.store as { readonly questions?: ProcessQuestions }).questions
    const stopAnswering = this.#questions?.answer(memory.answerText) ?? (() => undefined)
    this.#stops = [stopAnswering, cache.on('close', () => this.close())]
  }

  async explain(key: string, options?: AskOptions): Promise<Explanation> {
    const timeout = timeoutOf('explain', options)
    // Events and notices name a long key by its digest.
    const stored = isDigest(key) ? key : storedKey(key)
    const at = this.#cache.runtime.timeOfDay()
    const state = await this.#cache.inspect(key, { digest: true })
    const { answers, ...asked } = await this.#gather({ kind: 'history', key: stored, tags: state?.tags ?? [] }, timeout)
    const events = answers.flatMap(eventsOf).toSorted((one, other) => one.at - other.at)
    const processes = answers.map(({ process }) => process)
    const explanation = { key: stored, at, state, processes, ...asked, events }
    return { ...explanation, sentences: sentencesOf(explanation, key, this.#memory) }
  }

  async hotKeys(options?: AskOptions): Promise<HotKeyReport> {
    const { answers, ...asked } = await this.#gather({ kind: 'hot-keys' }, timeoutOf('hotKeys', options))
    const lists = answers.flatMap(({ hotKeys }) => hotKeys ?? [])
    const merged = (by: 'loadTime' | 'followers') =>
      mergeWeights(lists.map((list) => ({ keys: list[by], unlisted: list.unlisted[by] })))
    const processes = answers.map(({ process }) => process)
    return { processes, ...asked, loadTime: merged('loadTime'), followers: merged('followers') }
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.#memory.close()
  }

  async #gather(question: Question, timeout: number): Promise<Gathered> {
    const { runtime, shared } = this.#cache
    const own = this.#memory.keepsNothing ? [] : [this.#memory.answer(question)]
    if (this.#questions === undefined) {
      const problem = shared ? 'The store cannot ask other processes.' : undefined
      return { answers: own, unanswered: 0, problem }
    }
    const askedAt = runtime.timeOfDay()
    const answer = await this.#within(this.#questions.ask(JSON.stringify(question), timeout), timeout)
    if (answer.kind === 'away') return { answers: own, unanswered: undefined, problem: this.#problemOf(answer) }
    const answeredAt = runtime.timeOfDay()
    const others = answer.answers.map(parseAnswer).filter((one) => one !== undefined && one.id !== this.#memory.id)
    const onOurClock = (others as readonly Answer[]).map((one) => withClock(one, askedAt, answeredAt))
    return { answers: [...own, ...onOurClock], unanswered: answer.unanswered, problem: undefined }
  }

  #problemOf({ cause }: Away): string {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const rest = this.#memory.keepsEvents ? ': only what this process remembers is shown' : ''
    return `The other processes could not be asked (${reason})${rest}.`
  }

  /** A store that is frozen answers nothing. */
  #within<T>(asking: Promise<T>, timeout: number): Promise<T | Away> {
    return new Promise((resolve) => {
      const giveUp = (cause: unknown): void => resolve({ kind: 'away', why: 'deadline', cause })
      const late = (): void => giveUp(new Error('no answer in time'))
      const cancel = this.#cache.runtime.schedule(late, timeout + GRACE, true)
      asking.then(resolve, giveUp).finally(cancel)
    })
  }
}

function eventsOf({ process, events }: Answer): readonly ExplainedEvent[] {
  return events.map((event) => ({ ...event, process }))
}

/**
 * Moves an answer onto this host's clock: it was given between `askedAt` and `answeredAt`, whatever its
 * clock says.
 */
function withClock(answer: Answer, askedAt: number, answeredAt: number): Answer {
  const shift = Math.min(Math.max(answer.at, askedAt), answeredAt) - answer.at
  const moved = answer.events.map((event) => ({ ...event, at: event.at + shift, until: event.until + shift }))
  return { ...answer, events: shift === 0 ? answer.events : moved }
}
