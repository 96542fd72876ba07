// A project of check-installs.mjs: an empty folder in which packages are installed, and apps that use them.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { apps } from './install-rows.mjs'
import { managers } from './managers.mjs'
import { closure, run } from './pack.mjs'
import { runners } from './runners.mjs'
import { runtimes } from './runtimes.mjs'

/** No command of a row may take longer. */
const DEADLINE = 300_000

/** The environment of a shell: npm tells its scripts, and so a package manager below it, which project they belong to. */
const shell = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_(package|lifecycle|config_local_prefix)|INIT_CWD)/.test(name)),
)

/** What is wrong with the row; undefined if nothing is. */
export async function faultOf(row, scene) {
  const folder = mkdtempSync(join(scene.folder, 'project-'))
  const type = row.module === 'esm' ? 'module' : 'commonjs'
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'project', version: '1.0.0', private: true, type }),
  )
  const call = ([file, ...parameters]) =>
    run(file, parameters, {
      cwd: folder,
      timeout: DEADLINE,
      env: { ...shell, REDIS_URL: scene.redis.url, NO_COLOR: '1' },
    })
  const manager = managers[row.manager]
  try {
    manager.settings(folder, scene.registry.url)
    await call(manager.install(specsOf(row, scene)))
    await writeSources(row, folder)
    if (row.compiler !== undefined) await call([process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.'])
    const { program, passed } = runners[row.runner]
    const { stdout, stderr } = await call([...runtimes[row.runtime](), ...(manager.nodeOptions ?? []), ...program])
    return passed.test(stdout + stderr) ? undefined : `Nothing was run: ${stdout}${stderr}`
  } catch ({ message, stdout = '', stderr = '' }) {
    return `${message}\n${stdout}${stderr}`
  }
}

/** What the project installs: our packages by name or as files, the others with their version. */
function specsOf(row, { packages, devDependencies }) {
  const used = row.apps.map((app) => apps[app])
  const own = new Set(used.flatMap((app) => app.own))
  const peers = new Set(used.flatMap((app) => app.peers))
  const { packages: ofRunner = {} } = runners[row.runner]
  const versions = { ...devDependencies, ...ofRunner, typescript: row.compiler, ...row.versions }
  const others = [...peers, ...Object.keys(ofRunner)]
  if (row.compiler !== undefined) others.push('typescript', '@types/node', '@types/express')
  const named = packages.filter(({ name }) => own.has(name)).map(({ manifest }) => manifest.name)
  return [
    ...(row.tarballs ? closure(packages, named).map(({ tarball }) => tarball) : named),
    ...others.map((name) => `${name}@${versions[name]}`),
  ]
}

/** The apps of a row, compiled by the project, or without their types. */
async function writeSources(row, folder) {
  const { file, source } = runners[row.runner]
  const sources = new Map([[file, source(row.apps)]])
  for (const name of ['herd', 'served', ...row.apps])
    sources.set(`${name}.ts`, readFileSync(join(import.meta.dirname, 'installed', `${name}.ts`), 'utf8'))
  if (row.compiler !== undefined) {
    for (const [name, text] of sources) writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
    return
  }
  const format = row.module
  for (const [name, text] of sources) {
    const { code } = await transform(text, { loader: 'ts', format, target: 'es2022', tsconfigRaw: tsconfig })
    writeFileSync(join(folder, name.replace(/ts$/, 'js')), code)
  }
}

const tsconfig = {
  compilerOptions: {
    target: 'es2022',
    module: 'node16',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    experimentalDecorators: true,
  },
}
