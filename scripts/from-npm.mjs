// Programs that come from npm and are no dependency of the workspace: other versions of Node, other package managers and runtimes.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What is kept between runs. */
export const cache = resolve(import.meta.dirname, '../node_modules/.cache')

/** The folder in which `name@version` is installed. The first call installs it, without its scripts. */
export function fromNpm(name, version) {
  const folder = join(cache, `${name.replaceAll('/', '-')}-${version}`)
  if (existsSync(join(folder, 'node_modules', name))) return folder
  const install = [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    `${name}@${version}`,
  ]
  const { error, status } = spawnSync('npm', install, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (error !== undefined || status !== 0) throw new Error(`npm did not install ${name}@${version}`, { cause: error })
  return folder
}

/** The versions of Node by their major number; of 20, the oldest that the packages declare. */
export const nodeVersions = { 20: '20.19.0', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' }

/** The path of that Node. */
export function nodeBinary(major) {
  const version = nodeVersions[major]
  if (version === undefined) throw new Error(`Name a version of Node: ${Object.keys(nodeVersions).join(', ')}.`)
  const name = `node-${process.platform}-${process.arch}`
  return join(fromNpm(name, version), 'node_modules', name, 'bin/node')
}
