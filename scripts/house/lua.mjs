// One atomic step, one .lua file, whose header is the contract that its one TypeScript caller is written against:
//
//   -- A sentence that says what the step does.
//   --   KEYS[1] entry   KEYS[2] lease
//   --   ARGV[1] token   ARGV[2] duration, ms   ARGV[3...] tags
//   -- Returns 1 when …
//
// Every slot has a word and is used, every used slot is named; `[n...]` names all from n on.
import { embed, embedded, generated } from '../embed-lua.mjs'

const wantedLines = 25
const allowedLines = 40

/** The script without comments, and without what strings say. */
const codeOf = (text) =>
  text.replace(/--\[\[[\s\S]*?\]\]|--[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, (found) =>
    found.startsWith('-') ? '' : `''`,
  )

function slotsNamed(header) {
  const named = header.matchAll(/\b(KEYS|ARGV)\[(\d+)(\.\.\.|…)?\] +(?!KEYS|ARGV)[\w'"]/g)
  return [...named].map(([, table, number, rest]) => ({ table, number: Number(number), open: rest !== undefined }))
}

/** What the header promises and the body does not keep, or the other way round. */
function* slotFaults(header, code) {
  const named = slotsNamed(header)
  for (const { table, number, open } of named) {
    const used = open ? new RegExp(`#${table}|unpack\\(${table}`) : new RegExp(`\\b${table}\\[${number}\\]`)
    if (!used.test(code))
      yield `the header names ${table}[${number}${open ? '...' : ''}] and the body never uses it: drop it`
  }
  const uses = new Set([...code.matchAll(/\b(?:KEYS|ARGV)\[\d+\]/g)].map(([slot]) => slot))
  for (const slot of uses) {
    const [, table, number] = /(\w+)\[(\d+)\]/.exec(slot)
    const fits = (name) => name.table === table && (name.open ? name.number <= number : name.number === Number(number))
    if (!named.some(fits)) yield `the body uses ${slot} and the header gives it no word: name it`
  }
}

function* faultsOf(text) {
  const header = /^(?:--[^\n]*\n)*/.exec(text)[0]
  const code = codeOf(text.slice(header.length))
  if (!/^-- [A-Z].*?\./s.test(header)) yield 'start with a comment whose first sentence says what the step does'
  if (!/^-- +Returns? \S/m.test(header)) yield 'the header must say what the script answers: `-- Returns …`'
  yield* slotFaults(header, code)
  const lines = code.split('\n').filter((line) => line.trim() !== '').length
  if (lines > allowedLines)
    yield `${lines} lines of code, at most ${allowedLines} (wanted: ${wantedLines}): split the step or move a decision to the client`
}

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkLua(tree) {
  const files = tree.matching(/\/src\/lua\/[^/]+\.lua$/)
  const faults = files.flatMap((file) => [...faultsOf(tree.text(file))].map((message) => ({ file, line: 1, message })))
  if (files.length > 0 && embedded(tree.root) !== embed(tree.root)) {
    faults.push({ file: generated, line: 1, message: 'out of date: run `node scripts/embed-lua.mjs` and commit it' })
  }
  return { looked: `${files.length} scripts`, faults }
}
