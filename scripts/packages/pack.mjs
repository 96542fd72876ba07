// Packs every package as it would be published, and lays the tarballs out as an application that installed them.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export const run = promisify(execFile)

/** Packs `packages/*` of `root` into `folder`: `[{ name, tarball, manifest }]`. */
export async function packAll(root, folder) {
  const folders = readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'package.json')),
  )
  const workspaces = folders.flatMap((name) => ['--workspace', `packages/${name}`])
  await run('npm', ['pack', '--silent', '--pack-destination', folder, ...workspaces], { cwd: root })
  return folders.map((name) => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
    return { name, manifest, tarball: join(folder, `cattlegrid-${name}-${manifest.version}.tgz`) }
  })
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
