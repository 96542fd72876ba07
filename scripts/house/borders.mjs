// Who may import whom between the packages, and that examples live on published names like everybody else.
import { publishedEntry } from './tree.mjs'

const mayImport = {
  core: [],
  redis: ['core'],
  http: ['core'],
  express: ['http', 'core'],
  fastify: ['http', 'core'],
  testkit: ['core', 'http'],
}

const folderOf = (file) => file.split('/').slice(0, 2).join('/')

/** Why `file` may not import `specifier`; `undefined` when it may. */
function objection(tree, file, { specifier, target }) {
  const folder = folderOf(file)
  if (specifier.startsWith('.')) {
    return target.startsWith(`${folder}/`) ? undefined : `${specifier} leaves ${folder}: import a published name`
  }
  const [, other] = /^@cattlegrid\/([^/]+)/.exec(specifier) ?? []
  if (other === undefined) return undefined
  if (publishedEntry(tree, specifier) === undefined)
    return `${specifier} is not in that package's exports: import a published name`
  const [kind, name] = folder.split('/')
  if (kind === 'packages' && name !== other && !mayImport[name]?.includes(other)) {
    const allowed = mayImport[name]?.join(', ') || 'no package of ours'
    return `${name} may import ${allowed}, not ${other}: move the code to where it belongs`
  }
  const { dependencies, devDependencies, peerDependencies } = tree.json(`${folder}/package.json`)
  const declared = { ...peerDependencies, ...dependencies, ...(kind === 'examples' ? devDependencies : {}) }
  return `@cattlegrid/${other}` in declared || name === other
    ? undefined
    : `declare @cattlegrid/${other} in ${folder}/package.json`
}

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkBorders(tree) {
  const files = tree.matching(/^(packages\/[^/]+\/src|examples\/[^/]+)\/.*\.[cm]?[jt]s$/)
  const faults = files.flatMap((file) =>
    tree.module(file).imports.flatMap((found) => {
      const message = objection(tree, file, found)
      return message === undefined ? [] : [tree.fault(file, found.offset, message)]
    }),
  )
  return { looked: `${files.length} files of packages and examples`, faults }
}
