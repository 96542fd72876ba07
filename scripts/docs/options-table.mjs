// The table of one options interface: option, what it takes, its default, what it means.
import { membersOf } from '../house/options.mjs'
import { accepted } from './accepted.mjs'
import { docOf, splitDefault, table } from './docstring.mjs'

/** @param {import('./regions.mjs').Page} page @param {{ file: string, node: object }} found the interface */
export function optionsTable(page, name, found) {
  const members = [...membersOf(page.declarations, found.file, found.node)]
  const own = members.filter(([, { file, node }]) => file === found.file && isInside(node, found.node))
  const rows = own.map(([key, member]) => optionRow(page, key, member))
  const also = found.node.extends.map((parent) => alsoOf(page, found.file, parent, members))
  return [table(['Option', 'Takes', 'Default', 'Meaning'], rows), ...also].join('\n\n')
}

const isInside = (node, outer) => outer.start <= node.start && node.end <= outer.end

/** The cells of one option. */
export function optionRow(page, key, member) {
  const { file, node } = member
  const { meaning, default: byDefault } = splitDefault(docOf(page.tree, member))
  const takes = accepted(page, file, node.typeAnnotation.typeAnnotation)
  return [`\`${key}\``, takes, node.optional ? (byDefault ?? 'none') : '**required**', meaning]
}

/** What is inherited is told once, where it is declared; of `Omit<Other, …>` and its like the remaining names. */
function alsoOf(page, file, { expression, typeArguments }, members) {
  const whole = !/^(Omit|Pick|Partial|Required|Readonly)$/.test(expression.name)
  const parent = whole ? expression.name : typeArguments.params[0].typeName.name
  const { file: home, node } = page.declarations.find(parent, file)
  const where = page.link(parent)
  if (whole) return `And all of ${where}.`
  const theirs = new Set([...membersOf(page.declarations, home, node).values()].map((member) => member.node))
  const names = members.filter(([, member]) => theirs.has(member.node)).map(([key]) => `\`${key}\``)
  return `And of ${where}: ${names.join(', ')}.`
}
