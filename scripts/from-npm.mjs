// Programs that come from npm and are no dependency of the workspace: other versions of Node, other package managers and runtimes.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What is kept between runs. */
export const cache = resolve(import.meta.dirname, '../node_modules/.cache')

/**
 * The folder in which `name@version` is installed. The first call installs it, without its scripts: in a folder of its own, because another process may
 * ask for the same at that time, and would find half of it.
 */
export function fromNpm(name, version) {
  const folder = join(cache, `${name.replaceAll('/', '-')}-${version}`)
  const isThere = () => existsSync(join(folder, 'node_modules', name))
  if (isThere()) return folder
  mkdirSync(cache, { recursive: true })
  const own = mkdtempSync(`${folder}-`)
  const install = [
    'install',
    '--prefix',
    own,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    `${name}@${version}`,
  ]
  const { error, status } = spawnSync('npm', install, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (error !== undefined || status !== 0) throw new Error(`npm did not install ${name}@${version}`, { cause: error })
  try {
    renameSync(own, folder)
  } catch (cause) {
    rmSync(own, { recursive: true })
    if (!isThere()) throw new Error(`${folder} is in the way: delete it`, { cause })
  }
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
