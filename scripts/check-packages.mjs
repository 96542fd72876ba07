// The packages as a user gets them: packed, linted (their manifests, publint, attw), unpacked into an application that has only what they
// declare, and used by it, compiled as ES module and as CommonJS. Needs a build; nothing is downloaded.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { manifestFaults } from './packages/manifest.mjs'
import { install, packAll, run } from './packages/pack.mjs'

const root = resolve(import.meta.dirname, '..')
const bin = (name) => join(root, 'node_modules/.bin', name)

/** What the application of `packages/consumer.ts` depends on besides our packages. */
const own = [
  'express',
  'fastify',
  'redis',
  'prom-client',
  '@opentelemetry/api',
  '@types/node',
  '@types/express',
  '@nestjs/common',
  '@nestjs/core',
  'rxjs',
]

/** How a command ended and what it said. */
const outcome = (running) =>
  running.then(
    ({ stdout }) => ({ failed: false, text: stdout }),
    ({ stdout = '', stderr = '', message }) => ({ failed: true, text: `${stdout}${stderr}`.trim() || message }),
  )

/** What a command said when it failed; nothing when it did not. */
async function complaints(running) {
  const { failed, text } = await outcome(running)
  return failed ? [text] : []
}

async function lint({ tarball }) {
  const { buffer } = new Uint8Array(await readFile(tarball))
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true })
  return messages
    .filter(({ type }) => type !== 'suggestion')
    .map((message) => formatMessage(message, pkg, { color: false }))
}

const typesAreRight = ({ tarball }) =>
  complaints(run(bin('attw'), [tarball, '--no-definitely-typed', '--no-emoji', '--format', 'ascii']))

const compilers = [
  { resolution: 'nodenext', module: 'nodenext', sources: ['consumer.mts', 'consumer.cts'] },
  { resolution: 'bundler', module: 'esnext', sources: ['bundled.ts'] },
]

const strictly = {
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  // Our declaration files are part of what is checked.
  skipLibCheck: false,
  outDir: 'out',
}

/** Each command runs as npm links it: by itself, and knows which version it is. */
function runs(app, { manifest }) {
  const commands = Object.values(manifest.bin ?? {}).map(async (file) => {
    const said = await outcome(run(join(app, 'node_modules', manifest.name, file), ['--version']))
    return said.text.trim() === manifest.version ? [] : [`${file} --version says ${said.text}`]
  })
  return Promise.all(commands).then((found) => found.flat())
}

/** Compiles the consumer as a user would. */
async function compiles(app, { resolution, module, sources }) {
  for (const source of sources) copyFileSync(join(root, 'scripts/packages/consumer.ts'), join(app, source))
  const compilerOptions = { ...strictly, module, moduleResolution: resolution }
  writeFileSync(join(app, `tsconfig.${resolution}.json`), JSON.stringify({ compilerOptions, files: sources }))
  return complaints(run(bin('tsc'), ['-p', `tsconfig.${resolution}.json`], { cwd: app }))
}

let faults = 0
async function step(title, running) {
  const started = performance.now()
  const found = await running
  console.log(
    `${found.length === 0 ? 'ok  ' : 'FAIL'} ${title} (${((performance.now() - started) / 1000).toFixed(1)} s)`,
  )
  for (const fault of found) console.log(`     ${fault.replaceAll('\n', '\n     ')}`)
  faults += found.length
}

async function check(folder) {
  const app = join(folder, 'app')
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), '{ "type": "module", "private": true }\n')
  const packages = await packAll(root, folder)
  const workspace = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const one of packages) {
    await step(`manifest ${one.name}`, manifestFaults(workspace, one, packages))
    await step(`publint ${one.name}`, lint(one))
    await step(`attw ${one.name}`, typesAreRight(one))
  }
  await install(root, app, packages, own)
  for (const one of packages.filter(({ manifest }) => manifest.bin !== undefined)) {
    await step(`the commands of ${one.name} run`, runs(app, one))
  }
  for (const compiler of compilers) {
    await step(`an application compiles with ${compiler.resolution}`, compiles(app, compiler))
  }
  for (const output of ['consumer.mjs', 'consumer.cjs']) {
    await step(`${output} runs`, complaints(run(process.execPath, [join('out', output)], { cwd: app })))
  }
}

const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-packages-'))
try {
  await check(folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (faults > 0) process.exitCode = 1
