import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resultJson } from './result-json.ts'
import type { Result } from './result.ts'

/** Writes a result under results/. `isPart`: as of `Findings`. */
export function keepResult(result: Result, isPart: boolean): void {
  const folder = new URL('../../results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const file = new URL(`${result.bench}.json`, folder)
  const kept = isPart && existsSync(file) ? withOthers(result, JSON.parse(readFileSync(file, 'utf8'))) : result
  writeFileSync(file, resultJson(kept, rounded))
}

/** A result with the tables of an earlier one that it has not measured anew, each with the time of its own run. */
export function withOthers(result: Result, earlier: Result): Result {
  const isNew = new Map(result.tables.map((table) => [table.id, table]))
  const known = new Set(earlier.tables.map(({ id }) => id))
  const measured = new Set(result.targets.map(({ what }) => what))
  return {
    ...result,
    tables: [
      ...earlier.tables.map((table) => isNew.get(table.id) ?? { ...table, at: table.at ?? earlier.at }),
      ...result.tables.filter(({ id }) => !known.has(id)),
    ],
    targets: [...earlier.targets.filter(({ what }) => !measured.has(what)), ...result.targets],
    series: [...(earlier.series ?? []).filter(({ id }) => !isNew.has(id)), ...(result.series ?? [])],
  }
}

/** Nothing that is measured here has more than six digits that mean anything. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
}
