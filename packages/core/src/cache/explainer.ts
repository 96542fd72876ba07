import type { EngineServices } from '../flight/engine-services.ts'
import type { Diagnostics } from '../history/diagnostics.ts'
import { type Answer, type Answers, parseAnswer, type Question } from '../history/exchange.ts'
import { mergeWeights } from '../history/hot-keys.ts'
import type { ExplainedEvent } from '../history/timeline.ts'
import type { Away } from '../store/answers.ts'
import type { Inspected } from './inspected.ts'
import { type Asked, type Explanation, type HotKeyReport, sentencesOf } from './explanation.ts'

/** A store gets so much longer to answer than the processes, ms. */
const GRACE = 250

/** The answers of all caches that keep something, this one's first. */
interface Gathered extends Pick<Asked, 'unanswered' | 'problem'> {
  readonly answers: readonly Answer[]
}

/** Answers the questions of other processes, and asks them. */
export class Explainer {
  readonly #services: EngineServices
  readonly #diagnostics: Diagnostics
  readonly #stopAnswering: () => void

  constructor(services: EngineServices, diagnostics: Diagnostics) {
    this.#services = services
    this.#diagnostics = diagnostics
    this.#stopAnswering = services.store.answerQuestions?.(diagnostics.answerText) ?? (() => undefined)
  }

  close(): void {
    this.#stopAnswering()
  }

  /** `key`: the stored one of `requestedKey`. `timeout`: for the other processes, ms. */
  async explain(
    key: string,
    requestedKey: string,
    timeout: number,
    inspect: () => Promise<Inspected | undefined>,
  ): Promise<Explanation> {
    const at = this.#services.runtime.timeOfDay()
    const state = await inspect()
    const gathered = await this.#gather({ kind: 'history', key, tags: state?.tags ?? [] }, timeout)
    const { answers, ...asked } = gathered
    const events = answers.flatMap(eventsOf).toSorted((one, other) => one.at - other.at)
    const processes = answers.map(({ process }) => process)
    const explanation = { key, at, state, processes, ...asked, events }
    return { ...explanation, sentences: sentencesOf(explanation, requestedKey, this.#diagnostics) }
  }

  async hotKeys(timeout: number): Promise<HotKeyReport> {
    const { answers, ...asked } = await this.#gather({ kind: 'hot-keys' }, timeout)
    const lists = answers.flatMap(({ hotKeys }) => hotKeys ?? [])
    const merged = (by: 'loadTime' | 'followers') =>
      mergeWeights(lists.map((list) => ({ keys: list[by], unlisted: list.unlisted[by] })))
    const processes = answers.map(({ process }) => process)
    return { processes, ...asked, loadTime: merged('loadTime'), followers: merged('followers') }
  }

  async #gather(question: Question, timeout: number): Promise<Gathered> {
    const { store, runtime } = this.#services
    const own = this.#diagnostics.keepsNothing ? [] : [this.#diagnostics.answer(question)]
    if (store.askProcesses === undefined) {
      const problem = store.shared ? 'The store cannot ask other processes.' : undefined
      return { answers: own, unanswered: 0, problem }
    }
    const askedAt = runtime.timeOfDay()
    const asking = store.askProcesses(JSON.stringify(question), timeout)
    const answer = await this.#within(asking, timeout)
    if (answer.kind === 'away') return { answers: own, unanswered: undefined, problem: this.#problemOf(answer) }
    const others = answer.answers
      .map(parseAnswer)
      .filter((one) => one !== undefined && one.id !== this.#diagnostics.id) as Answer[]
    const answeredAt = runtime.timeOfDay()
    const onOurClock = others.map((one) => withClock(one, askedAt, answeredAt))
    return { answers: [...own, ...onOurClock], unanswered: answer.unanswered, problem: undefined }
  }

  #problemOf({ cause }: Away): string {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const rest = this.#diagnostics.remembers ? ': only what this process remembers is shown' : ''
    return `The other processes could not be asked (${reason})${rest}.`
  }

  /** A store that is frozen answers nothing. */
  #within(asking: Promise<Answers | Away>, timeout: number): Promise<Answers | Away> {
    return new Promise((resolve) => {
      const giveUp = (cause: unknown): void => resolve({ kind: 'away', why: 'deadline', cause })
      const late = (): void => giveUp(new Error('no answer in time'))
      const cancel = this.#services.runtime.schedule(late, timeout + GRACE, true)
      asking.then(resolve, giveUp).finally(cancel)
    })
  }
}

function eventsOf({ process, events }: Answer): readonly ExplainedEvent[] {
  return events.map((event) => ({ ...event, process }))
}

/** Moves an answer onto this host's clock: it was given between the question and its arrival, so a clock that says otherwise is wrong by at least the difference. */
function withClock(answer: Answer, askedAt: number, answeredAt: number): Answer {
  const shift = Math.min(Math.max(answer.at, askedAt), answeredAt) - answer.at
  const moved = answer.events.map((event) => ({ ...event, at: event.at + shift, until: event.until + shift }))
  return { ...answer, events: shift === 0 ? answer.events : moved }
}
