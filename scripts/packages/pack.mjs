// Packs every public package as it would be published, and lays the tarballs out as an application that installed them.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export const run = promisify(execFile)

/** The packages of `packages/*` that are published, `[{ name, manifest }]`: those that are not private. */
export function publicPackages(root) {
  return readdirSync(join(root, 'packages'))
    .map((name) => ({ name, file: join(root, 'packages', name, 'package.json') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => ({ name, manifest: JSON.parse(readFileSync(file, 'utf8')) }))
    .filter(({ manifest }) => manifest.private !== true)
}

/** Packs the public packages of `root` into `folder`: `[{ name, manifest, tarball, size, files }]`, `files` being the paths in the tarball. */
export async function packAll(root, folder) {
  const packages = publicPackages(root)
  const workspaces = packages.flatMap(({ name }) => ['--workspace', `packages/${name}`])
  const { stdout } = await run('npm', ['pack', '--silent', '--json', '--pack-destination', folder, ...workspaces], {
    cwd: root,
    maxBuffer: 2 ** 26,
  })
  const packed = JSON.parse(stdout)
  return packages.map(({ name, manifest }) => {
    const { filename, files, size } = packed.find((one) => one.name === manifest.name)
    return { name, manifest, tarball: join(folder, filename), size, files: files.map(({ path }) => path) }
  })
}

/** The packages of these names, and those that they depend on. */
export function closure(packages, names) {
  const found = new Set()
  const add = (name) => {
    const one = packages.find(({ manifest }) => manifest.name === name)
    if (one === undefined || found.has(one)) return
    found.add(one)
    for (const dependency of Object.keys(one.manifest.dependencies ?? {})) add(dependency)
  }
  for (const name of names) add(name)
  return [...found]
}

function link(root, name, into, from = root) {
  const source = [from, root].map((folder) => join(folder, 'node_modules', name)).find((folder) => existsSync(folder))
  if (source === undefined) throw new Error(`${name} is declared and not installed: run npm ci`)
  const target = join(into, 'node_modules', name)
  mkdirSync(dirname(target), { recursive: true })
  symlinkSync(source, target)
}

/**
 * Unpacks the tarballs into `app/node_modules`. Beside each package stands a link to what it declares and nothing else,
 * so that an undeclared dependency does not load; the application itself has `own`.
 */
export async function install(root, app, packages, own) {
  for (const { name, tarball, manifest } of packages) {
    const home = join(app, 'node_modules', manifest.name)
    mkdirSync(home, { recursive: true })
    await run('tar', ['-xzf', tarball, '-C', home, '--strip-components=1'])
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const optional = manifest.peerDependenciesMeta ?? {}
    for (const dependency of declared) {
      if (dependency.startsWith('@cattlegrid/') || optional[dependency]?.optional) continue
      link(root, dependency, home, join(root, 'packages', name))
    }
  }
  for (const dependency of own) link(root, dependency, app)
}
