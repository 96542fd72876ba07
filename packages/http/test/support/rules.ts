import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** One rule of the specification: what it says in a sentence, whether it is built, and the tests that hold it. */
export interface Rule {
  readonly number: string
  readonly says: string
  readonly state: string
  readonly titles: readonly string[]
}

const packages = resolve(__dirname, '../../..')

/** The rows of rules.md. */
export function readRules(): readonly Rule[] {
  return cellsOf(readFileSync(join(__dirname, '../guarantees/rules.md'), 'utf8'))
    .filter(([number = '']) => /^\d+\.\d+$/.test(number))
    .map(([number = '', says = '', state = '', tests = '']) => ({
      number,
      says,
      state,
      titles: tests.split(' · ').filter((title) => title !== '' && title !== '–'),
    }))
}

/** The cells of each line of a table, from the first one on. */
export function cellsOf(markdown: string): readonly (readonly string[])[] {
  return markdown.split('\n').map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1)
      .map((cell) => cell.trim()),
  )
}

/** The titles of all tests, what is filled in written as `…`. */
export function titlesOfTests(): ReadonlySet<string> {
  const folders = ['http/test', 'express/test', 'fastify/test', 'testkit/src/adapter-contract', '../test/fleet']
  const titles = folders.flatMap((folder) => titlesIn(join(packages, folder)))
  return new Set(titles)
}

/** The titles of the tests in and below a folder. */
export function titlesIn(folder: string): readonly string[] {
  return readdirSync(folder, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(TITLE)])
    .map(({ groups }) => normal(groups?.['title'] ?? ''))
}

/** The first argument of `test`, or of what `test.each(…)` returned. */
const TITLE =
  /(?:\btest\(|^\s*\]\)\(|\btest\.each[^\n]*\]\)\(|\.each\([^\n()]*\)\()\s*(?<quote>['`"])(?<title>[^\n]*?)\k<quote>,/gm

function normal(title: string): string {
  return title.replaceAll(/\$\{[^}]*\}|%[sdjp]/g, '…').replaceAll('\\', '')
}
