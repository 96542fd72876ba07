// The table of the metrics: the object literal of the catalogue, as both exporters have it.
import { table } from './docstring.mjs'

const catalogue = 'packages/metrics/src/catalogue.ts'

/** @param {import('./regions.mjs').Page} page */
export function metricsTable({ tree }) {
  const { body } = tree.module(catalogue).program
  const declared = body
    .filter(({ type }) => type === 'VariableDeclaration')
    .flatMap(({ declarations }) => declarations)
    .find(({ id }) => id.name === 'rows')
  const rows = declared.init.expression.properties.map(({ value }) => {
    const row = Object.fromEntries(value.properties.map((field) => [field.key.name, plain(field.value)]))
    const labels = ['cache', ...row.labels].map((label) => `\`${label}\``).join(', ')
    return [`\`${row.name}\``, row.kind, labels, row.help]
  })
  return table(['Metric', 'Kind', 'Labels', 'Meaning'], rows)
}

const plain = (node) => (node.type === 'ArrayExpression' ? node.elements.map(plain) : node.value)
