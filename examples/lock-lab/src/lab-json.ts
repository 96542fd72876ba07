import type { CounterReport, LockReport } from './lab.ts'
import { plainReply } from './reply.ts'
import type { Step } from './step.ts'

/** The report for programs. */
export function labJson(
  report: { readonly locks: readonly LockReport[]; readonly counters: readonly CounterReport[] },
  surprises: readonly string[],
  missing: string | undefined,
): object {
  return {
    asTold: surprises.length === 0,
    surprises,
    leftOut: missing ?? null,
    locks: report.locks.map(({ lock, trials }) => ({
      id: lock.id,
      name: lock.name,
      properties: trials.map(({ property, trial: { steps, ...trial } }) => ({
        property: property.name,
        claim: property.claim,
        ...trial,
        told: lock.told.filter((told) => told.property === property.name).map(({ id }) => id),
        steps: steps.map(stepJson),
      })),
    })),
    counters: report.counters.map(({ counter, counted: { sum, steps } }) => ({
      name: counter.name,
      sum,
      steps: steps.map(stepJson),
    })),
  }
}

function stepJson({ who, text, reply, note }: Step, place: number): object {
  return { step: place + 1, who, text, reply: plainReply(reply), note }
}
