import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { keepResult } from './keep.ts'
import { watchMachine } from './machine.ts'
import { printed } from './print.ts'
import type { Findings, Result } from './result.ts'

export interface BenchOptions {
  /** A run of seconds, which shows that the bench works and measures nothing. */
  readonly smoke: boolean
  readonly rounds: number
  /** Which contenders take part; undefined: all. */
  readonly only: readonly string[] | undefined
  /** Of the options that this bench alone has, those that were given. */
  readonly own: Readonly<Record<string, unknown>>
}

const COMMON = {
  json: { type: 'boolean', default: false },
  smoke: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  only: { type: 'string' },
  note: { type: 'string' },
} as const

const FULL_ROUNDS = 7
const SMOKE_ROUNDS = 1

/** Runs one scenario as a command: options, tables for people or JSON for programs, and on demand a result to keep. */
export async function runBench(
  name: string,
  measure: (options: BenchOptions) => Promise<Findings>,
  ownOptions: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>> = {},
): Promise<void> {
  const { values } = parseArgs({ options: { ...ownOptions, ...COMMON } })
  const { smoke, json, keep, only } = values
  const rounds = Number(values.rounds ?? (smoke ? SMOKE_ROUNDS : FULL_ROUNDS))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: a whole number from 1 on`)
  if (keep && only !== undefined) throw new Error('--keep: a result is kept whole, without --only')
  if (keep && smoke) throw new Error('--keep: a smoke run measures nothing that is worth keeping')
  const look = watchMachine()
  const { isPart = false, ...findings } = await measure({ smoke, rounds, only: only?.split(';'), own: values })
  const result: Result = {
    bench: name,
    at: new Date().toISOString(),
    smoke,
    machine: look(),
    versions: versions(),
    ...(values.note === undefined ? {} : { conditions: values.note }),
    ...findings,
  }
  if (keep) keepResult(result, isPart)
  console.log(json ? JSON.stringify(result) : printed(result))
}

/** Of everything that takes part. */
function versions(): Readonly<Record<string, string>> {
  const manifest = createRequire(import.meta.url)('../../package.json') as Record<string, Record<string, string>>
  return { ...manifest['dependencies'], ...manifest['devDependencies'] }
}

/** The names that take part in this run. */
export function chosen(names: readonly string[], { only }: BenchOptions): readonly string[] {
  return only === undefined ? names : names.filter((name) => only.includes(name))
}
