// Every option has a doc comment and a row in its package's table of bad input.
//
// Options live in the files options.ts and call-options.ts of packages/<name>/src: exported interfaces (or type aliases of object types) whose
// name ends in `Options`. `extends`, `&`, Omit, Pick, Partial, Required and Readonly of other interfaces of the repository
// are followed; inherited keys need rows too. An option that is an object has an interface of its own, not an inline type.
//
// Rows live in packages/<name>/test/options-table.ts, which imports nothing at run time (types may be imported):
//
//   export const optionsTable: Record<string, Record<string, unknown>> = {
//     CacheOptions: { ttl: ['30 parsecs', -1], near: [{ maxEntries: 0 }] },   // interface name → key → whatever
//     LeaseOptions: { duration: […], maxHold: […] },                          // the package's table test makes of it
//   }
//
// Every key of every such interface is a row there, and there is no other row.
import { transform } from 'esbuild'
import { docOf } from '../docs/docstring.mjs'
import { walk } from './tree.mjs'

/** @typedef {{ file: string, node: object }} Declaration   an interface or a type alias, and where it stands */

function declarationsIn(tree, file) {
  const found = new Map()
  walk(tree.module(file).program, (node, parent) => {
    if (!/^TS(Interface|TypeAlias)Declaration$/.test(node.type)) return
    found.set(node.id.name, { file, node, exported: parent?.type === 'ExportNamedDeclaration' })
  })
  return found
}

/** Finds an interface by name: in the same file first, then wherever in the packages it is declared. */
export class Declarations {
  #tree
  #files = new Map()

  constructor(tree) {
    this.#tree = tree
  }

  in(file) {
    if (!this.#files.has(file)) this.#files.set(file, declarationsIn(this.#tree, file))
    return this.#files.get(file)
  }

  find(name, from) {
    const everywhere = [from, ...this.#tree.matching(/^packages\/[^/]+\/src\/.*\.ts$/)]
    return everywhere.map((file) => this.in(file).get(name)).find((found) => found !== undefined)
  }
}

const literalNames = (type) =>
  (type.type === 'TSUnionType' ? type.types : [type])
    .map((one) => one.literal?.value)
    .filter((name) => typeof name === 'string')

/** The members that a type has, by key. Types of libraries have none: their options are their authors' matter. */
export function membersOf(declarations, file, type) {
  switch (type.type) {
    case 'TSInterfaceDeclaration': {
      const inherited = type.extends.map((parent) =>
        reference(declarations, file, parent.expression.name, parent.typeArguments),
      )
      return new Map([...inherited.flatMap((one) => [...one]), ...membersOf(declarations, file, type.body)])
    }
    case 'TSTypeAliasDeclaration':
      return membersOf(declarations, file, type.typeAnnotation)
    case 'TSIntersectionType':
      return new Map(type.types.flatMap((one) => [...membersOf(declarations, file, one)]))
    case 'TSTypeReference':
      return reference(declarations, file, type.typeName.name, type.typeArguments)
    case 'TSInterfaceBody':
      return ownMembers(file, type.body)
    case 'TSTypeLiteral':
      return ownMembers(file, type.members)
    default:
      return new Map()
  }
}

const ownMembers = (file, members) =>
  new Map(
    members.filter(({ key }) => key !== undefined).map((node) => [node.key.name ?? node.key.value, { file, node }]),
  )

function reference(declarations, file, name, typeArguments) {
  const [of, names] = typeArguments?.params ?? []
  if (/^(Omit|Pick|Partial|Required|Readonly)$/.test(name)) {
    const all = membersOf(declarations, file, of)
    if (names === undefined) return all
    const listed = new Set(literalNames(names))
    return new Map([...all].filter(([key]) => listed.has(key) === (name === 'Pick')))
  }
  const found = declarations.find(name, file)
  return found === undefined ? new Map() : membersOf(declarations, found.file, found.node)
}

function hasInlineObject({ node }) {
  let found = false
  walk(node.typeAnnotation ?? [], ({ type }) => {
    if (type === 'TSTypeLiteral') found = true
    return type !== 'TSFunctionType'
  })
  return found
}

function* memberFaults(tree, name, key, member) {
  const at = (message) => tree.fault(member.file, member.node.start, `${name}.${key} ${message}`)
  if (!/[a-z]/i.test(docOf(tree, member))) yield at('has no doc comment: say meaning, unit, default and consequence')
  if (hasInlineObject(member))
    yield at('is an inline object type: give it an interface …Options, so that its keys have rows')
}

async function readTable(tree, file) {
  const { code } = await transform(tree.text(file), { loader: 'ts', format: 'esm' })
  const { optionsTable } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  if (typeof optionsTable !== 'object') throw new TypeError('it must export const optionsTable')
  return optionsTable
}

/** Where table and interfaces differ, both ways. */
function* rowFaults(file, wanted, table) {
  for (const [name, keys] of wanted) {
    for (const key of keys)
      if (!Object.hasOwn(table[name] ?? {}, key))
        yield { file, line: 1, message: `no row for ${name}.${key}: say what it refuses` }
  }
  for (const [name, rows] of Object.entries(table)) {
    for (const key of Object.keys(rows))
      if (!wanted.get(name)?.has(key))
        yield { file, line: 1, message: `a row for ${name}.${key}, which no options.ts has: drop it` }
  }
}

/** The options that a package has, by interface, and what is wrong with how they are written. */
function optionsOf(tree, declarations, files) {
  const faults = []
  const wanted = new Map()
  for (const file of files) {
    for (const [name, { node, exported }] of declarations.in(file)) {
      if (!exported || !name.endsWith('Options')) continue
      const members = membersOf(declarations, file, node)
      wanted.set(name, new Set(members.keys()))
      faults.push(...[...members].flatMap(([key, member]) => [...memberFaults(tree, name, key, member)]))
    }
  }
  return { wanted, faults }
}

async function tableFaults(tree, file, wanted) {
  if (!tree.has(file)) return [{ file, line: 1, message: `missing: the rows for ${[...wanted.keys()].join(', ')}` }]
  try {
    return [...rowFaults(file, wanted, await readTable(tree, file))]
  } catch (error) {
    return [{ file, line: 1, message: `cannot be read: ${error.message}` }]
  }
}

/** @param {import('./tree.mjs').Tree} tree @returns {Promise<import('./tree.mjs').Finding>} */
export async function checkOptions(tree) {
  const declarations = new Declarations(tree)
  const files = tree.matching(/^packages\/[^/]+\/src\/(.+\/)?(call-)?options\.ts$/)
  const homes = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')))
  const faults = []
  let keys = 0
  for (const home of homes) {
    const own = files.filter((file) => file.startsWith(`${home}/`))
    const found = optionsOf(tree, declarations, own)
    keys += [...found.wanted.values()].reduce((sum, names) => sum + names.size, 0)
    faults.push(...found.faults, ...(await tableFaults(tree, `${home}/test/options-table.ts`, found.wanted)))
  }
  return { looked: `${keys} options of ${homes.size} packages`, faults }
}
