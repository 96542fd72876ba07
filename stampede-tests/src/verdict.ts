import { inspect } from 'node:util'
import type { Answer } from './member-client.js'

/** What a check found wrong; it goes on after a fault, so that a table can say all of them. */
export class Verdict {
  readonly faults: string[] = []

  is(what: string, got: unknown, wanted: unknown): void {
    if (!Object.is(got, wanted)) this.faults.push(`${what}: ${inspect(got)}, wanted ${inspect(wanted)}`)
  }

  atMost(what: string, got: number, most: number): void {
    if (!(got <= most)) this.faults.push(`${what}: ${round(got)}, wanted at most ${most}`)
  }

  /** Each caller has this value. */
  all(answers: readonly Answer[], value: unknown): void {
    const others = answers.filter((answer) => answer.error !== undefined || !hasValue(answer) || answer.value !== value)
    if (others.length > 0)
      this.faults.push(`${others.length} of ${answers.length} callers got ${tell(others[0])}, wanted ${inspect(value)}`)
  }

  /** Each caller has an error with this text; with an empty one: any error. */
  allFail(answers: readonly Answer[], text: string): void {
    const others = answers.filter(({ error }) => error?.includes(text) !== true)
    if (others.length > 0)
      this.faults.push(
        `${others.length} of ${answers.length} callers got ${tell(others[0])}, wanted the error ${inspect(text)}`,
      )
  }

  /** Each caller has a value or an error, in this time, ms. */
  allAnswered(answers: readonly Answer[], within: number): void {
    const late = answers.filter((answer) => (answer.error === undefined && !hasValue(answer)) || answer.took > within)
    if (late.length > 0)
      this.faults.push(`${late.length} of ${answers.length} callers had no answer after ${within} ms`)
  }

  slowest(what: string, answers: readonly Answer[], most: number): void {
    this.atMost(`${what}, ms`, Math.max(...answers.map(({ took }) => took)), most)
  }
}

const hasValue = (answer: Answer): boolean => 'value' in answer

const round = (figure: number): number => Math.round(figure * 10) / 10

function tell(answer: Answer | undefined): string {
  if (answer?.error !== undefined) return `the error ${inspect(answer.error)}`
  return answer !== undefined && hasValue(answer) ? inspect(answer.value) : 'no answer'
}
