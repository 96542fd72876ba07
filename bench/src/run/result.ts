import type { Figure } from './figure.ts'
import type { Machine } from './machine.ts'

/** Text for what was not measured: why. */
export type Cell = Figure | number | string

export interface Column {
  readonly id: string
  readonly title: string
  /** Behind the point; for figures and numbers. */
  readonly digits: number
}

export interface Row {
  readonly name: string
  readonly is: 'ours' | 'peer' | 'floor'
  readonly cells: Readonly<Record<string, Cell>>
}

export interface Table {
  readonly id: string
  readonly title: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
}

/** A figure to reach. */
export interface Target {
  /** Which part of the table of targets it belongs to. */
  readonly what: string
  readonly op: '<=' | '>=' | '='
  readonly wanted: number
  readonly got: Figure | number
  readonly unit: string
}

/** Points of one curve over the same x. */
export interface Curve {
  readonly name: string
  readonly is: Row['is']
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Plot {
  readonly id: string
  readonly title: string
  readonly x: string
  readonly y: string
  readonly curves: readonly Curve[]
}

/** Everything that a run found out; kept under results/, and what docs/performance.md is made from. */
export interface Result {
  readonly bench: string
  /** ISO date of the run. */
  readonly at: string
  readonly smoke: boolean
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  /** What else the machine was doing, in the words of who ran it. */
  readonly conditions?: string
  readonly tables: readonly Table[]
  readonly targets: readonly Target[]
  readonly plots: readonly Plot[]
}

/** What a scenario finds out. */
export type Findings = Pick<Result, 'tables' | 'targets'> & { readonly plots?: readonly Plot[] }

function median(value: Figure | number): number {
  return typeof value === 'number' ? value : value.median
}

export function met({ op, wanted, got }: Target): boolean {
  const value = median(got)
  return op === '<=' ? value <= wanted : op === '>=' ? value >= wanted : value === wanted
}
