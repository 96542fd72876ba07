// Runs the unit tests on another version of Node, whose binary comes from npm: npm run test:node 24 [path …] [-- options of jest]
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, dirname, resolve } from 'node:path'

const versions = { 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' }
const [major, ...given] = process.argv.slice(2)
const version = versions[major]
if (version === undefined) throw new Error(`Name a version of Node: ${Object.keys(versions).join(', ')}.`)

const name = `node-${process.platform}-${process.arch}`
const folder = resolve(`node_modules/.cache/node-${version}`)
const node = `${folder}/node_modules/${name}/bin/node`

function run(command, parameters, env = process.env) {
  const { error, status } = spawnSync(command, parameters, { stdio: 'inherit', env })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(node))
  run('npm', ['install', '--prefix', folder, '--no-save', '--no-package-lock', `${name}@${version}`])
run(node, ['node_modules/jest/bin/jest.js', ...given, '--selectProjects', 'unit'], {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
})
