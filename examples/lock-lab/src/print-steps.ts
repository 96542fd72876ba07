import type { Paint } from './paint.ts'
import type { Verdict } from './properties/property.ts'
import { replyText } from './reply.ts'
import type { Step } from './step.ts'

/** An interleaving, one numbered line a step: who, what was sent, the reply that came, what the caller makes of it. */
export function printSteps(steps: readonly Step[], paint: Paint): string {
  const rows = steps.map((step) => ({ ...step, text: step.text ?? '', answer: replyOf(step) }))
  const widest = (of: (row: (typeof rows)[number]) => string): number =>
    Math.max(0, ...rows.map((row) => of(row).length))
  const who = widest((row) => row.who)
  const text = widest((row) => row.text)
  const answer = widest((row) => row.answer)
  return rows
    .map((row, place) => {
      // Padded before it is painted: colours have a length but no width.
      const cells = [row.who.padEnd(who), row.text.padEnd(text), row.answer.padEnd(answer)].join('  ')
      return `    ${String(place + 1).padStart(2)}  ${cells}  ${row.note === undefined ? '' : paint('dim', row.note)}`.trimEnd()
    })
    .join('\n')
}

function replyOf({ reply }: Step): string {
  return reply === undefined ? '' : `→ ${replyText(reply)}`
}

const MARKS = { kept: '✓', broken: '✗', moot: '–' } as const
const COLOURS = { kept: 'green', broken: 'red', moot: 'dim' } as const

export function printVerdict({ verdict, why }: Verdict, paint: Paint): string {
  return paint(COLOURS[verdict], `    ${MARKS[verdict]}  ${why}`)
}

export function printMark(verdict: Verdict['verdict'], width: number, paint: Paint): string {
  return paint(COLOURS[verdict], MARKS[verdict].padStart(width))
}
