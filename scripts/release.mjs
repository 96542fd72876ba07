// Publishes the public packages, each after those that it depends on. A version that the registry has is left out, so that a release that stopped half-way
// goes on. `npm run release` builds and checks the packages first.
//
//   npm run release                       with provenance, which npm accepts from the workflow release.yml alone
//   npm run release -- --no-provenance    with your own token: the first release, before npm knows the workflow
//   npm run release -- --dry-run          says what it would publish, writes the bills of materials, and asks no registry
//   npm run release -- --registry URL     another registry than the one that npm is set to
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packAll, run } from './packages/pack.mjs'
import { writeBills } from './packages/sbom.mjs'

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: resolve(import.meta.dirname, '..') },
    'dry-run': { type: 'boolean', default: false },
    provenance: { type: 'boolean', default: true },
    registry: { type: 'string' },
  },
  allowNegative: true,
})

const registry = values.registry === undefined ? [] : ['--registry', values.registry]
const how = ['--access', 'public', values.provenance ? '--provenance' : '--no-provenance']

/** Each package behind those that it depends on. */
function inOrder(packages) {
  const left = new Map(packages.map((one) => [one.manifest.name, one]))
  const ordered = new Set()
  const add = (name) => {
    const one = left.get(name)
    if (!left.delete(name)) return
    for (const dependency of Object.keys(one.manifest.dependencies ?? {})) add(dependency)
    ordered.add(one)
  }
  for (const { manifest } of packages) add(manifest.name)
  return [...ordered]
}

async function isPublished({ name, version }) {
  try {
    const { stdout } = await run('npm', ['view', `${name}@${version}`, 'version', ...registry])
    return stdout.trim() === version
  } catch (error) {
    if (/\bE404\b/.test(error.stderr)) return false
    throw error
  }
}

async function publish({ manifest, tarball }) {
  if (values['dry-run']) return 'would be published'
  if (await isPublished(manifest)) return 'was published before'
  await run('npm', ['publish', tarball, ...how, ...registry])
  return 'published'
}

/** What forbids the release of this version. */
function obstacle(version) {
  const changelog = join(values.root, 'CHANGELOG.md')
  if (existsSync(changelog) && readFileSync(changelog, 'utf8').includes(`\n## [${version}]`)) return undefined
  return `CHANGELOG.md has no section [${version}]: npm run release -- version`
}

/** The lines of the README and of the first page of the site that are true only until the first release. */
function linesBeforeFirstRelease() {
  return ['README.md', 'docs/index.md']
    .filter((page) => existsSync(join(values.root, page)))
    .flatMap((page) =>
      readFileSync(join(values.root, page), 'utf8')
        .split('\n')
        .flatMap((line, index) => (/not on npm yet|^<!-- badges/.test(line) ? [`${page}:${index + 1}`] : [])),
    )
}

async function release(folder) {
  const packages = inOrder(await packAll(values.root, folder))
  const [{ manifest }] = packages
  const forbidden = obstacle(manifest.version)
  if (forbidden !== undefined && !values['dry-run']) throw new Error(forbidden)
  const bills = await writeBills(values.root, packages, join(values.root, 'sbom'))
  for (const [index, one] of packages.entries()) {
    const { name, version } = one.manifest
    console.log(`${name} ${version}, ${Math.ceil(one.size / 1024)} KB, ${one.files.length} files`)
    console.log(`  bill of materials: ${relative(values.root, bills[index])}`)
    console.log(`  npm publish ${basename(one.tarball)} ${how.join(' ')}: ${await publish(one)}`)
  }
  if (forbidden !== undefined) console.log(`Before the release: ${forbidden}`)
  const lines = linesBeforeFirstRelease()
  if (lines.length > 0)
    console.log(`After the release, the packages are on npm; these lines say otherwise: ${lines.join(', ')}`)
}

const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-release-'))
try {
  await release(folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
