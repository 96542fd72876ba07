// The packages as users install them: each row of packages/install-rows.mjs is an empty project, into which a package manager installs the packed
// packages, and which uses them. Needs a build, and the registry for what is not ours: check-packages.mjs needs none.
//
//   node scripts/check-installs.mjs [--only text]     all rows, or those whose line has this text
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '@cattlegrid/testkit'
import { lineOf, rows } from './packages/install-rows.mjs'
import { packAll } from './packages/pack.mjs'
import { faultOf } from './packages/project.mjs'
import { startRegistry } from './packages/registry.mjs'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const chosen = rows.filter((row) => lineOf(row).includes(values.only))
if (chosen.length === 0) throw new Error(`no row has ${values.only}`)

async function check(row, scene) {
  const started = performance.now()
  const fault = await faultOf(row, scene)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${fault === undefined ? 'ok  ' : 'FAIL'} ${lineOf(row)} ${seconds.padStart(6)} s`)
  if (fault !== undefined) console.log(`     ${fault.trim().replaceAll('\n', '\n     ')}`)
  return fault === undefined
}

const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-installs-'))
const packages = await packAll(root, folder)
const registry = await startRegistry(packages)
const redis = await startRedis({ own: true })
try {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  let failed = 0
  for (const row of chosen) if (!(await check(row, { folder, packages, registry, redis, devDependencies }))) failed += 1
  console.log(`${chosen.length} projects, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
} finally {
  await redis.stop()
  registry.close()
  rmSync(folder, { recursive: true, force: true })
}
