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
  /** ISO date of its run, if that is an earlier one than the result's. */
  readonly at?: string
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

/** What one row did from second to second, for a plot: a list for each quantity, with one place for each second. */
export interface Series {
  /** That of its table. */
  readonly id: string
  readonly name: string
  readonly seconds: Readonly<Record<string, readonly number[]>>
}

/** Everything that a run found out. `--keep` writes it under results/, and `npm run docs` makes the tables and plots from it. */
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
  readonly series?: readonly Series[]
}

/** What a scenario finds out. */
export interface Findings extends Pick<Result, 'tables' | 'targets' | 'series'> {
  /** Only some of the tables were measured: the kept result keeps its others. */
  readonly isPart?: boolean
}

/** The columns of a table that shows a cost as something grows: one for each amount of it. */
export function amountColumns(amounts: readonly number[]): readonly Column[] {
  return amounts.map((amount) => ({ id: String(amount), title: amount.toLocaleString('en'), digits: 1 }))
}

function median(value: Figure | number): number {
  return typeof value === 'number' ? value : value.median
}

export function met({ op, wanted, got }: Target): boolean {
  const value = median(got)
  return op === '<=' ? value <= wanted : op === '>=' ? value >= wanted : value === wanted
}
