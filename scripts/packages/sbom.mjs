// Writes a bill of materials (SBOM, CycloneDX) for each public package, by `npm sbom`. Its option `--workspace` would list the root, development tools and peers,
// too. So each package is described as a project that has it alone, with the versions that the repository's lock file names.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { run } from './pack.mjs'

const SBOM = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'library']

/** Writes the bills into `folder`, and returns their paths. `packages`: as `packAll` returns them. */
export async function writeBills(root, packages, folder) {
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  mkdirSync(folder, { recursive: true })
  const written = []
  for (const { name, manifest, tarball } of packages) {
    const path = join(folder, `${basename(tarball, '.tgz')}.cdx.json`)
    writeFileSync(path, `${JSON.stringify(await billOf(manifest, `packages/${name}`, locked), null, 2)}\n`)
    written.push(path)
  }
  return written
}

async function billOf(manifest, home, locked) {
  const project = mkdtempSync(join(tmpdir(), 'cattlegrid-sbom-'))
  try {
    const own = installed(manifest)
    const packages = Object.fromEntries([['', own], ...dependencyEntries(own, home, '', locked)])
    const lock = { name: manifest.name, version: manifest.version, lockfileVersion: 3, requires: true, packages }
    writeFileSync(join(project, 'package.json'), JSON.stringify(own))
    writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lock))
    const bill = JSON.parse((await run('npm', SBOM, { cwd: project })).stdout)
    // npm names the root by its folder.
    bill.metadata.component.name = manifest.name
    return bill
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

/** What a user's installation has of a package: no development tools, and no peers, which are the user's own. */
function installed({ name, version, description, author, license, resolved, integrity, dependencies }) {
  return { name, version, description, author, license, resolved, integrity, dependencies }
}

/** The lock's entries for all that a package depends on, each below what needs it. `home` is the package's place in the repository, `at` that in the project. */
function dependencyEntries({ dependencies = {} }, home, at, locked) {
  return Object.keys(dependencies).flatMap((name) => {
    const place = placeOf(name, home, locked)
    const entry = installed(locked[place])
    const below = `${at}node_modules/${name}`
    return [[below, entry], ...dependencyEntries(entry, place, `${below}/`, locked)]
  })
}

/** The place from which a package is loaded, as Node looks for it; that of another package of this repository is its folder. */
function placeOf(name, home, locked) {
  for (let folder = home; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name)
    if (locked[place]?.link) return locked[place].resolved
    if (locked[place] !== undefined) return place
    if (folder === '.') throw new Error(`package-lock.json has no ${name}, which ${home} depends on: run npm install`)
  }
}
