// The examples of examples/migrations, and the kept result of `npm run bench -- migrations --keep`.
import { table } from './docstring.mjs'

const folder = 'examples/migrations'

/** An example as the page shows it: the file as it stands. */
export function exampleCode(tree, name) {
  return `\`\`\`ts\n${tree.text(`${folder}/src/${name}.ts`)}\`\`\``
}

/** A line for each migration: how often the database was asked before it and after it. */
export function herdsTable(tree) {
  const results = new Map(tree.json(`${folder}/results.json`).map((row) => [row.example, row]))
  const peers = [...results.keys()].filter((name) => name.endsWith('-before')).map((name) => name.slice(0, -7))
  const [{ cold, failing }] = results.values()
  const head = [
    'From',
    `Queries for ${cold.callers} callers of a cold key`,
    'after',
    `Queries for ${failing.callers} callers while the database fails`,
    'after',
    'These callers got',
    'after',
  ]
  const rows = peers.map((peer) => {
    const [before, after] = [results.get(`${peer}-before`), results.get(`${peer}-after`)]
    const pairs = [
      [before.cold.queries, after.cold.queries],
      [before.failing.queries, after.failing.queries],
      [gotten(before), gotten(after)],
    ]
    return [peer, ...pairs.flat().map(String)]
  })
  return table(head, rows)
}

const gotten = ({ failing }) => failing.answers.map((answer) => JSON.parse(answer)).join(' or ')
