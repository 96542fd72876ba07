// Runs tests on another server, whose package comes from a suite of Debian: npm test -- server redis-8 [path …] [options of jest]
// The server runs with the libraries of its suite, which are unpacked beside it; nothing is installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

const servers = {
  'redis-8': { suite: 'trixie', program: 'redis-server' },
  'valkey-8': { suite: 'trixie', program: 'valkey-server' },
  'valkey-9': { suite: 'forky', program: 'valkey-server' },
}
const [name, ...given] = process.argv.slice(2)
const server = servers[name]
if (server === undefined) throw new Error(`Name a server: ${Object.keys(servers).join(', ')}.`)

const folder = resolve(`node_modules/.cache/${name}`)
if (!existsSync(folder)) fetchServer(server)

console.log(execFileSync(join(folder, 'redis-server'), ['--version'], { encoding: 'utf8' }).trim())
const { error, status } = spawnSync(process.execPath, ['node_modules/jest/bin/jest.js', ...given], {
  stdio: 'inherit',
  // The name under which the tests look for a server first.
  env: { ...process.env, REDIS_URL: '', PATH: `${folder}${delimiter}${process.env.PATH}` },
})
if (error !== undefined) throw error
process.exitCode = status ?? 1

/** Unpacks the server and its libraries, with a program `redis-server` that starts it with them. */
function fetchServer({ suite, program }) {
  mkdirSync(resolve('node_modules/.cache'), { recursive: true })
  const work = mkdtempSync(`${folder}-`)
  try {
    unpack(work, suite, program)
    renameSync(work, folder)
    const root = join(folder, 'root')
    const [library] = readdirSync(join(root, 'usr/lib')).filter((entry) => entry.includes('-linux-gnu'))
    const loader = readdirSync(join(root, 'usr/lib', library)).find((entry) => /^ld-linux.*\.so/.test(entry))
    const path = join(root, 'usr/lib', library)
    const start = [`"${join(path, loader)}"`, '--library-path', `"${path}"`, '--argv0', program]
    writeFileSync(
      join(folder, 'redis-server'),
      `#!/bin/sh\nexec ${start.join(' ')} "${root}/usr/bin/${program}" "$@"\n`,
    )
    chmodSync(join(folder, 'redis-server'), 0o755)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function unpack(work, suite, program) {
  for (const one of ['lists/partial', 'cache/archives/partial', 'debs', 'root'])
    mkdirSync(join(work, one), { recursive: true })
  const quiet = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], timeout: 300_000 }
  const mirror = execFileSync(
    'apt-get',
    ['indextargets', '--format', '$(SITE)', 'Created-By: Packages', 'Origin: Debian'],
    quiet,
  )
  const [site] = mirror.split('\n')
  const list = join(work, 'sources.list')
  writeFileSync(list, `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${site} ${suite} main\n`)
  const state = [
    `Dir::Etc::sourcelist=${list}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${work}/lists`,
    `Dir::Cache=${work}/cache`,
  ]
  // Nothing counts as installed, so that each library is of the suite.
  const own = [...state, 'Dir::State::status=/dev/null', 'APT::Sandbox::User=', 'Debug::NoLocking=1']
  const options = ['-qq', ...own.flatMap((option) => ['-o', option])]
  const apt = (...args) => execFileSync('apt-get', [...options, ...args], { ...quiet, cwd: join(work, 'debs') })
  apt('update')
  const plan = apt('--simulate', '--no-install-recommends', 'install', program)
  const names = Array.from(plan.matchAll(/^Inst (\S+)/gm), ([, one]) => one)
  apt('download', ...names.filter((one) => /^(?:lib|zlib|redis|valkey)/.test(one)))
  for (const deb of readdirSync(join(work, 'debs')))
    execFileSync('dpkg-deb', ['--extract', join(work, 'debs', deb), join(work, 'root')], quiet)
  for (const one of ['lists', 'cache', 'debs']) rmSync(join(work, one), { recursive: true })
}
