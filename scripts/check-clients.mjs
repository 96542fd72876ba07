// The packed packages, installed by npm beside one client of Redis at a time, and two processes of an application on them: every behaviour must be the same on
// every client. The versions are those of the workspace's devDependencies. Needs a build.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { startRedis } from '@cattlegrid/testkit'
import { rows } from './packages/client-rows.mjs'
import { packAll, run } from './packages/pack.mjs'

const root = resolve(import.meta.dirname, '..')
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The columns: the names under which the workspace has the clients. */
const clients = ['redis-oldest', 'redis5', 'redis', 'ioredis', 'ioredis6'].map((alias) => {
  const [, name = alias, version = devDependencies[alias]] = /^npm:(.+)@(.+)$/.exec(devDependencies[alias]) ?? []
  return { name, version, title: `${name} ${version}` }
})

/** An application that has our two packages and one client. A client that the package does not allow beside it fails the install. */
async function installed(folder, packages, { name, version }) {
  const app = join(folder, `${name}-${version}`)
  mkdirSync(app)
  const ours = packages.filter((one) => ['core', 'redis'].includes(one.name))
  const tarballs = Object.fromEntries(ours.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]))
  const dependencies = { ...tarballs, [name]: version }
  writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await run('npm', ['install', '--prefer-offline', '--strict-peer-deps', ...quiet], { cwd: app })
  copyFileSync(join(root, 'scripts/packages/client-member.mjs'), join(app, 'client-member.mjs'))
  return app
}

let asked = 0

/** A process with the commands of `client-member.mjs` as methods. */
async function startMember(app, url, via) {
  const child = fork(join(app, 'client-member.mjs'), [url, via], { cwd: app })
  const ended = once(child, 'exit').then(() => undefined)
  if ((await Promise.race([once(child, 'message'), ended])) === undefined) throw new Error(`${app} did not start`)
  const ask = (name, ...args) =>
    new Promise((settle, reject) => {
      const id = (asked += 1)
      child.on('message', function answer({ id: of, result, error }) {
        if (of !== id) return
        child.off('message', answer)
        if (error === undefined) settle(result)
        else reject(new Error(error))
      })
      child.send({ id, name, args })
    })
  const member = new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : (...args) => ask(name, ...args)) })
  await member.ready()
  return { member, stop: () => child.kill('SIGKILL') }
}

/** Of an object, only what the row asks for. */
const relevant = (got, wanted) =>
  typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)
    ? Object.fromEntries(Object.keys(wanted).map((name) => [name, got?.[name]]))
    : got

async function play({ run: act, wanted }, scene) {
  try {
    const got = (await act(scene)).map((one, place) => relevant(one, wanted[place]))
    return isDeepStrictEqual(got, wanted) ? undefined : `got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`
  } catch (error) {
    return String(error.stack ?? error)
  }
}

/** What is wrong with each row on one client; undefined where nothing is. */
async function column(app, client) {
  const server = await startRedis({ own: true })
  const members = await Promise.all([client.name, 'url'].map((via) => startMember(app, server.url, via)))
  const [one, other] = members.map(({ member }) => member)
  const found = []
  try {
    for (const row of rows) found.push(await play(row, { one, other, server }))
  } finally {
    for (const { stop } of members) stop()
    await server.stop()
  }
  return found
}

function print(columns) {
  const width = Math.max(...rows.map(({ title }) => title.length))
  const line = (title, cells) => console.log([title.padEnd(width), ...cells].join('  '))
  line(
    '',
    clients.map(({ title }) => title),
  )
  for (const [place, { title }] of rows.entries()) {
    const cells = columns.map((found, at) =>
      (found[place] === undefined ? 'ok' : 'FAIL').padEnd(clients[at].title.length),
    )
    line(title, cells)
  }
  for (const [at, found] of columns.entries())
    for (const [place, fault] of found.entries())
      if (fault !== undefined) console.log(`\n${rows[place].title} on ${clients[at].title}: ${fault}`)
}

const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-clients-'))
try {
  const packages = await packAll(root, folder)
  const apps = await Promise.all(clients.map((client) => installed(folder, packages, client)))
  const columns = []
  for (const [at, client] of clients.entries()) columns.push(await column(apps[at], client))
  print(columns)
  if (columns.flat().some((fault) => fault !== undefined)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
