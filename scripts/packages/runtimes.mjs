// The programs that run a project: each returns the command that stands before a file.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fromNpm, nodeBinary } from '../from-npm.mjs'

/** A binary that a package brings as one of its optional dependencies, for this platform. */
function ofPlatform(name, version, scope, file) {
  const folder = join(fromNpm(name, version), 'node_modules', scope)
  const [found] = readdirSync(folder).filter((one) => one.includes(process.platform) && one.includes(process.arch))
  if (found === undefined)
    throw new Error(`${name}@${version} has no binary for ${process.platform} on ${process.arch}`)
  return join(folder, found, file)
}

export const runtimes = {
  'node 20': () => [nodeBinary(20)],
  'node 22': () => [nodeBinary(22)],
  'node 24': () => [nodeBinary(24)],
  'node 26': () => [nodeBinary(26)],
  bun: () => [ofPlatform('bun', '1.4.5', '@oven', 'bin/bun')],
  deno: () => [ofPlatform('deno', '2.9.6', '@deno', 'deno'), 'run', '--allow-all', '--node-modules-dir=manual'],
}
