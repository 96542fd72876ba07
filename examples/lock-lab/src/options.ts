import { parseArgs } from 'node:util'
import type { Counter } from './counter.ts'
import type { Lock } from './lock.ts'

export interface LabOptions {
  /** What to try: everything, or one lock. */
  readonly locks: readonly Lock[]
  readonly counters: readonly Counter[]
  /** One lock only: every play of it is shown. */
  readonly inFull: boolean
  /** Print one JSON document and nothing else. */
  readonly json: boolean
}

/** Reads `[--lock id] [--json]`; throws on anything else. */
export function readOptions(args: readonly string[], all: Pick<LabOptions, 'locks' | 'counters'>): LabOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { lock: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const wanted = values.lock
  if (wanted === undefined) return { ...all, inFull: false, json: values.json }
  const locks = all.locks.filter(({ id, told }) => id === wanted || told.some((one) => one.id === wanted))
  if (locks.length === 0)
    throw new Error(`--lock is one of ${all.locks.map(({ id }) => id).join(', ')}, not ${JSON.stringify(wanted)}`)
  return { locks, counters: [], inFull: true, json: values.json }
}
