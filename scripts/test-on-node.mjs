// Runs the unit tests on another version of Node, whose binary comes from npm: npm test -- node 24 [path …] [options of jest]
import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { nodeBinary } from './from-npm.mjs'

const [major, ...given] = process.argv.slice(2)
const node = nodeBinary(major)
// Every case of a property is tried on the version that npm test runs on.
const env = { CATTLEGRID_CASES: '0.1', ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
const jest = ['node_modules/jest/bin/jest.js', ...given, '--selectProjects', 'unit']
const { error, status } = spawnSync(node, jest, { stdio: 'inherit', env })
if (error !== undefined) throw error
process.exitCode = status ?? 1
