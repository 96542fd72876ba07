import { styleText } from 'node:util'
import type { CounterReport } from './counter.ts'
import type { LockReport, PropertyReport } from './lab.ts'
import { failuresOf, type Lock } from './lock.ts'
import { properties, type Verdict } from './properties.ts'
import type { Step } from './steps.ts'

export type Style = (format: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string

export const plain: Style = (_format, text) => text
export const coloured: Style = (format, text) => styleText(format, text, { validateStream: false })

export const INTRODUCTION = `
  A, B and C have a connection each to a real Redis; every command below was sent, and every reply came.
  "time passes" is longer than a lock lives. A caller pauses between two commands; the lab tries every place.`

const MARKS = { kept: '✓', broken: '✗', moot: '–' } as const
const COLOURS = { kept: 'green', broken: 'red', moot: 'dim' } as const

/** The known failures of a lock; all properties if `inFull` is set or the lock has no failure. */
export function printLock({ lock, properties: all }: LockReport, style: Style, inFull: boolean): string {
  const showsAll = inFull || lock.failures.length === 0
  const shown = all.filter(({ property }) => showsAll || failuresOf(lock, property.name).length > 0)
  const others = all.filter((one) => !shown.includes(one) && one.verdict === 'broken')
  const blocks = shown.map((one) => printProperty(lock, one, style))
  if (others.length > 0) {
    const names = others.map(({ property }) => property.name).join(', ')
    blocks.push(style('dim', `  also breaks, as --lock ${lock.id} shows: ${names}`))
  }
  return [`\n${style('bold', `${lock.id}  ${lock.name}`)}`, ...blocks].join('\n\n')
}

function printProperty(lock: Lock, { property, ...result }: PropertyReport, style: Style): string {
  const failures = failuresOf(lock, property.name).map(({ id }) => `${id}  `)
  const title = `  ${failures.join('')}${style('bold', property.name)}: ${property.claim}`
  const breaksAt = result.verdict === 'broken' ? failuresOf(lock, property.name).map((one) => one.breaksAt) : []
  return [title, ...printResult(result, style, breaksAt)].filter((line) => line !== '').join('\n')
}

export function printCounter({ counter, sum, steps, unexpected }: CounterReport, style: Style): string {
  const verdict: Verdict =
    sum === 2
      ? { verdict: 'kept', why: 'two increments made 2' }
      : { verdict: 'broken', why: `two increments made ${sum}, one is lost` }
  const title = `\n${style('bold', `counter  ${counter.name}`)}\n`
  return [title, ...printResult({ ...verdict, steps, unexpected }, style)].join('\n')
}

function printResult(
  { verdict, why, steps, unexpected }: Omit<PropertyReport, 'property' | 'runs'>,
  style: Style,
  breaksAt: readonly number[] = [],
): string[] {
  return [
    printSteps(steps, style, breaksAt),
    style(COLOURS[verdict], `    ${MARKS[verdict]}  ${why}`),
    ...unexpected.map((difference) => style('yellow', `    !  not as expected: ${difference}`)),
  ]
}

/** One numbered line a step: the caller or the event, the command, the reply, the conclusion. The step that breaks the property is marked. */
function printSteps(steps: readonly Step[], style: Style, breaksAt: readonly number[]): string {
  const rows = steps.map(({ who, text = '', reply, note = '' }) => {
    return { cells: [who, text, reply === undefined ? '' : `→ ${replyText(reply)}`], note }
  })
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map(({ cells }) => cells[column]?.length ?? 0)))
  return rows
    .map(({ cells, note }, place) => {
      const padded = cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
      const mark = breaksAt.includes(place + 1) ? style('red', MARKS.broken) : ' '
      return ` ${mark}  ${String(place + 1).padStart(2)}  ${padded}  ${note === '' ? '' : style('dim', note)}`.trimEnd()
    })
    .join('\n')
}

/** The closing table: a line for each property, a column for each lock. */
export function printTable(reports: readonly LockReport[], style: Style): string {
  const label = Math.max(...properties.map(({ name }) => name.length))
  const head = reports.map(({ lock }) => style('bold', lock.id.padStart(4))).join('')
  const lines = properties.map((property) => {
    const cells = reports.map((report) => {
      const found = report.properties.find((one) => one.property === property)
      // Padded before it is coloured: escape codes have a length but no width.
      return found === undefined ? '   ?' : style(COLOURS[found.verdict], MARKS[found.verdict].padStart(4))
    })
    return `  ${property.name.padEnd(label)}${cells.join('')}`
  })
  const rule = `  ${'─'.repeat(label + 4 * reports.length)}`
  const legend = reports.map(({ lock }) => `  ${lock.id.padEnd(3)} ${lock.name}`)
  const key = '  ✓ kept   ✗ broken   – does not apply   ? left out'
  return ['', `  ${' '.repeat(label)}${head}`, rule, ...lines, rule, key, '', ...legend].join('\n')
}

/** The report for programs. */
export function reportJson(
  locks: readonly LockReport[],
  counters: readonly CounterReport[],
  unexpected: readonly string[],
  missing: string | undefined,
): object {
  return {
    asExpected: unexpected.length === 0,
    unexpected,
    leftOut: missing ?? null,
    locks: locks.map(({ lock, properties: all }) => ({
      id: lock.id,
      name: lock.name,
      properties: all.map(({ property, verdict, why, runs, steps }) => ({
        property: property.name,
        claim: property.claim,
        verdict,
        why,
        runs,
        failures: failuresOf(lock, property.name).map(({ id }) => id),
        steps: steps.map(stepJson),
      })),
    })),
    counters: counters.map(({ counter, sum, steps }) => ({ name: counter.name, sum, steps: steps.map(stepJson) })),
  }
}

function stepJson({ who, text, reply, note }: Step, place: number): object {
  return { step: place + 1, who, text, reply: plainReply(reply), note }
}

/** Redis's replies as they are; of a result of cattlegrid's store the kind, and the value that it found. */
function plainReply(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null || !('kind' in reply)) return reply
  const entry = 'entry' in reply ? reply.entry : undefined
  const found = typeof entry === 'object' && entry !== null && 'value' in entry ? ` ${String(entry.value)}` : ''
  return `${String(reply.kind)}${found}`
}

export function replyText(reply: unknown): string {
  const shown = plainReply(reply)
  if (shown === null) return 'nil'
  if (Array.isArray(shown)) return `[${shown.map(replyText).join(', ')}]`
  return typeof shown === 'string' ? shown : JSON.stringify(shown)
}
