import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll } from '@jest/globals'

/** As it is built and packed. */
const program = resolve(__dirname, '../dist/esm/cli/main.js')

/** How a command ended, and what it said. */
export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly child: ChildProcess
  readonly out: string
  readonly err: string
  readonly ended: Promise<Ran>
}

/** A process of its own. `url`: what REDIS_URL says there; by default the server of this test run. `hidden`: packages that are not installed there. */
export function start(
  args: readonly string[],
  url: string = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? '',
  hidden: readonly string[] = [],
): Running {
  if (!existsSync(program)) throw new Error(`${program} is not built: npm run build`)
  const env = { ...process.env, REDIS_URL: url, NODE_OPTIONS: withoutPackages(hidden) }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said.out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said.err += chunk))
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code: code as number | null, ...said }))
  return {
    child,
    ended,
    get out() {
      return said.out
    },
    get err() {
      return said.err
    },
  }
}

/** Runs a command, one after the other, in a process that runs all those of a test file for which the same packages are hidden. */
export function cattlegrid(
  args: readonly string[],
  url: string = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? '',
  hidden: readonly string[] = [],
): Promise<Ran> {
  const turn = last.then(async () => {
    const host = hostOf(hidden)
    host.send({ args, url })
    const over = new AbortController()
    const ended = once(host, 'exit', over).then(() => Promise.reject(new Error(`The host ended in ${args.join(' ')}`)))
    try {
      const [ran] = (await Promise.race([once(host, 'message', over), ended])) as [Ran]
      return ran
    } finally {
      over.abort()
    }
  })
  last = turn.catch(() => undefined)
  return turn
}

const hosts = new Map<string, ChildProcess>()
let last: Promise<unknown> = Promise.resolve()
afterAll(() => {
  for (const host of hosts.values()) host.kill()
})

function hostOf(hidden: readonly string[]): ChildProcess {
  const name = hidden.join()
  const env = { ...process.env, NODE_OPTIONS: withoutPackages(hidden) }
  const host =
    hosts.get(name) ?? fork(resolve(__dirname, 'cli-host.mjs'), { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  hosts.set(name, host)
  return host
}

function withoutPackages(hidden: readonly string[]): string {
  return hidden.length === 0 ? '' : `--import=${hiding(hidden)}`
}

/** A module that makes Node find none of these packages. */
function hiding(packages: readonly string[]): string {
  const hooks = `export function resolve(name, context, next) {
    if (!${JSON.stringify(packages)}.includes(name)) return next(name, context)
    throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' })
  }`
  return moduleOf(`import { register } from 'node:module'; register(${JSON.stringify(moduleOf(hooks))})`)
}

function moduleOf(source: string): string {
  // NODE_OPTIONS is split at blanks.
  return `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`
}

/** The value behind each label of what was printed for people; further lines are joined to it. */
export function rowsOf(out: string): Record<string, string> {
  const rows: Record<string, string> = {}
  let label = ''
  for (const line of out.trimEnd().split('\n')) {
    const [, found, value] = /^(\S+(?: \S+)*)\s{2,}(.*)$/.exec(line) ?? []
    if (found === undefined) rows[label] += `\n${line.trim()}`
    else rows[(label = found)] = value ?? ''
  }
  return rows
}
