import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { build, type BuildOptions } from 'esbuild'

const installed = resolve(import.meta.dirname, '../node_modules')
/** The packages of the other clients. */
const othersOf = {
  redis: /^@?io(?:redis|valkey)/,
  ioredis: /^@?(?:redis5?$|redis-oldest|iovalkey)/,
}

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cattlegrid-bundle-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function installBut(others: RegExp): void {
  const own = join(folder, 'node_modules/@cattlegrid')
  mkdirSync(own, { recursive: true })
  for (const name of ['core', 'redis']) symlinkSync(resolve(import.meta.dirname, '../packages', name), join(own, name))
  for (const name of readdirSync(installed).filter((one) => !/^(?:\.|@cattlegrid$)/.test(one) && !others.test(one)))
    symlinkSync(join(installed, name), join(folder, 'node_modules', name))
}

const body = `
const cache = createCache({ store: redisStore({ url: process.argv[2], namespace: process.argv[3] }), ttl: '1m' })
cache.ready({ timeout: '20s' })
  .then(() => cache.getOrSet('k', () => 'value'))
  .then((value) => process.stdout.write(value))
  .then(() => cache.close())
`
const sources = {
  esm: `import { createCache } from '@cattlegrid/core'\nimport { redisStore } from '@cattlegrid/redis'\n${body}`,
  cjs: `const { createCache } = require('@cattlegrid/core')\nconst { redisStore } = require('@cattlegrid/redis')\n${body}`,
}

it.each([
  ['redis', 'esm', 'esm'],
  ['redis', 'esm', 'cjs'],
  ['redis', 'cjs', 'cjs'],
  ['ioredis', 'esm', 'cjs'],
  ['ioredis', 'cjs', 'cjs'],
] as const)('esbuild bundles the Redis store where %s alone is installed: %s as %s', async (client, module, format) => {
  installBut(othersOf[client])
  const entry = join(folder, module === 'esm' ? 'app.mjs' : 'app.cjs')
  writeFileSync(entry, sources[module])
  const outfile = join(folder, `out/bundle.${format === 'esm' ? 'mjs' : 'cjs'}`)
  const options: BuildOptions = {
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format,
    outfile,
    logLevel: 'silent',
  }
  // CommonJS packages in a bundle of ES modules need a `require`.
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }
  const { errors } = await build({ ...options, preserveSymlinks: true, ...(format === 'esm' ? { banner } : {}) })
  expect(errors).toEqual([])
  // The bundle brings the client along.
  rmSync(join(folder, 'node_modules'), { recursive: true })
  const url = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''
  const { stdout } = await promisify(execFile)(process.execPath, [outfile, url, `bundle-${folder}`], {
    timeout: 60_000,
  })
  expect(stdout).toBe('value')
})
