// Only packages/core/src/runtime.ts reads clocks, timers and randomness, so that a test can own time.
// `new Date(ms)`, `Date.parse`, `Date.UTC` and `instanceof Date` translate a time that is given and read none.
import { walk } from './tree.mjs'

const owner = 'packages/core/src/runtime.ts'

const refused = new Set(
  'performance setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate'.split(' '),
)

/** Objects that may be used by a plain `object.member` only, and the members that read what runtime.ts owns. */
const holders = new Map([
  ['Math', /^random$/],
  ['process', /^(hrtime|uptime)$/],
  ['crypto', /^(random|getRandomValues|webcrypto)/],
  ['AbortSignal', /^timeout$/],
  ['Date', /^(?!parse$|UTC$|prototype$)/],
  ...['globalThis', 'global'].map((name) => [
    name,
    new RegExp(`^(${[...refused].join('|')}|Math|process|crypto|AbortSignal|Date)$`),
  ]),
])

/** Modules by the names that may not be imported from them; a whole-module import counts as every name. */
const modules = new Map([
  ['timers', /^/],
  ['timers/promises', /^/],
  ['perf_hooks', /^/],
  ['crypto', /^(\*|default|random|getRandomValues|webcrypto|generateKey)/],
  ['process', /^(\*|hrtime|uptime)/],
])

const inTypes = (node) => /^TS(?!(As|NonNull|Satisfies|Instantiation)Expression|TypeAssertion)/.test(node.type)

/** `[module, names]` for each way to name a module at run time. */
function importedNames(node) {
  switch (node.type) {
    case 'ImportDeclaration':
      if (node.importKind === 'type') return undefined
      return [node.source.value, node.specifiers.filter((one) => one.importKind !== 'type').map(nameOfSpecifier)]
    case 'ExportNamedDeclaration':
      return node.source === null ? undefined : [node.source.value, node.specifiers.map((one) => one.local.name)]
    case 'ExportAllDeclaration':
    case 'ImportExpression':
      return [node.source.value, ['*']]
    case 'CallExpression':
      return node.callee.name === 'require' ? [node.arguments[0]?.value, ['*']] : undefined
    default:
      return undefined
  }
}

const nameOfSpecifier = (one) => {
  if (one.type === 'ImportNamespaceSpecifier') return '*'
  return one.type === 'ImportDefaultSpecifier' ? 'default' : (one.imported.name ?? one.imported.value)
}

/** A name that is no variable: a member, a key, an import's or export's name. */
function isLabel(parent, key) {
  if (/^(Import|Export)\w*Specifier$/.test(parent.type)) return true
  if (parent.computed) return false
  return (
    key === 'property' ||
    (key === 'key' && /^(Property|MethodDefinition|PropertyDefinition|AccessorProperty)$/.test(parent.type))
  )
}

/** `member` of a plain `object.member` or `object['member']`. */
function memberOf(parent, key) {
  if (parent.type !== 'MemberExpression' || key !== 'object') return undefined
  return parent.computed ? parent.property.value : parent.property.name
}

function translatesOnly(parent, key) {
  if (parent.type === 'NewExpression') return key === 'callee' && parent.arguments.length > 0
  return parent.type === 'BinaryExpression' && parent.operator === 'instanceof' && key === 'right'
}

/** What a node reads that only runtime.ts may; `undefined` when nothing. */
function reading(node, parent, key) {
  const [module, names] = importedNames(node) ?? []
  const guarded = modules.get(String(module).replace(/^node:/, ''))
  if (guarded !== undefined)
    return names.some((name) => guarded.test(name)) ? `${names.join(', ')} from ${module}` : undefined
  if (node.type !== 'Identifier' || isLabel(parent, key)) return undefined
  if (refused.has(node.name)) return node.name
  if (!holders.has(node.name) || translatesOnly(parent, key)) return undefined
  const member = memberOf(parent, key)
  if (member === undefined) return `${node.name}, which reaches the clock under another name`
  return holders.get(node.name).test(member) ? `${node.name}.${member}` : undefined
}

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkRuntime(tree) {
  const files = tree.matching(/^packages\/(?!testkit\/)[^/]+\/src\/.*\.ts$/).filter((file) => file !== owner)
  const faults = []
  for (const file of files) {
    walk(tree.module(file).program, (node, parent, key) => {
      if (inTypes(node)) return false
      const read = reading(node, parent, key)
      if (read !== undefined) faults.push(tree.fault(file, node.start, `reads ${read}: take it from core's Runtime`))
      return true
    })
  }
  return { looked: `${files.length} files`, faults }
}
