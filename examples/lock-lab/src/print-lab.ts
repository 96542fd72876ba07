import type { Audience, CounterReport, LockReport, LockTrial } from './lab.ts'
import type { Paint } from './paint.ts'
import { printMark, printSteps, printVerdict } from './print-steps.ts'
import { properties } from './properties/all.ts'

export const INTRODUCTION = `
  A, B and C have a connection each to a real Redis; every command below was sent, and every reply came.
  "time passes" is longer than a lock lives. Who pauses does so between two commands, in every place in turn.`

/** Prints each lock as soon as it is through; `inFull` also shows the plays of a folklore lock that nothing is told of. */
export function printingAudience(print: (text: string) => void, paint: Paint, inFull: boolean): Audience {
  return {
    lock: (report) => print(printLock(report, paint, inFull)),
    counter: (report) => print(printCounter(report, paint)),
  }
}

function printLock({ lock, trials }: LockReport, paint: Paint, inFull: boolean): string {
  const showsAll = inFull || lock.told.length === 0
  const shown = trials.filter(({ property }) => showsAll || lock.told.some((told) => told.property === property.name))
  const others = trials.filter((one) => !shown.includes(one) && one.trial.verdict === 'broken')
  const blocks = shown.map((one) => printTrial(one, nameOf(lock.told, one), paint))
  if (others.length > 0) {
    const names = others.map(({ property }) => property.name).join(', ')
    blocks.push(paint('dim', `  also breaks, as --lock ${lock.id} shows: ${names}`))
  }
  return [`\n${paint('bold', `${lock.id}  ${lock.name}`)}`, ...blocks].join('\n\n')
}

/** The names under which the trial is told, `d2` for one, or none. */
function nameOf(told: LockReport['lock']['told'], { property }: LockTrial): string {
  return told
    .filter((one) => one.property === property.name)
    .map((one) => `${one.id}  `)
    .join('')
}

function printTrial({ property, trial, surprises }: LockTrial, name: string, paint: Paint): string {
  const title = `  ${name}${paint('bold', property.name)}: ${property.claim}`
  const lines = [title, printSteps(trial.steps, paint), printVerdict(trial, paint), ...printSurprises(surprises, paint)]
  return lines.filter((line) => line !== '').join('\n')
}

function printCounter({ counter, counted: { sum, steps }, surprises }: CounterReport, paint: Paint): string {
  const lost = 2 - sum
  const verdict = lost === 0 ? 'kept' : 'broken'
  const why = `two increments made ${sum}${lost === 0 ? '' : ', one is lost'}`
  const title = `\n${paint('bold', `counter  ${counter.name}`)}\n`
  return [
    title,
    printSteps(steps, paint),
    printVerdict({ verdict, why }, paint),
    ...printSurprises(surprises, paint),
  ].join('\n')
}

function printSurprises(surprises: readonly string[], paint: Paint): string[] {
  return surprises.map((surprise) => paint('yellow', `    !  not as told: ${surprise}`))
}

/** The closing table: a line for each property, a column for each lock. */
export function printTable(reports: readonly LockReport[], paint: Paint): string {
  const label = Math.max(...properties.map(({ name }) => name.length))
  const head = reports.map(({ lock }) => paint('bold', lock.id.padStart(4))).join('')
  const lines = properties.map(({ name }) => {
    const cells = reports.map(({ trials }) => {
      const found = trials.find(({ property }) => property.name === name)
      return found === undefined ? '   ?' : printMark(found.trial.verdict, 4, paint)
    })
    return `  ${name.padEnd(label)}${cells.join('')}`
  })
  const rule = `  ${'─'.repeat(label + 4 * reports.length)}`
  const legend = reports.map(({ lock }) => `  ${lock.id.padEnd(3)} ${lock.name}`)
  const key = '  ✓ kept   ✗ broken   – its question never comes up   ? left out'
  return ['', `  ${' '.repeat(label)}${head}`, rule, ...lines, rule, key, '', ...legend].join('\n')
}
