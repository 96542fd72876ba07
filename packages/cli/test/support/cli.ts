import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll } from '@jest/globals'

/** As it is built and packed. */
const program = resolve(__dirname, '../../dist/esm/main.js')

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

/** A process of its own. `url`: what REDIS_URL says there; by default the server of this test run. */
export function start(args: readonly string[], url: string = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''): Running {
  if (!existsSync(program)) throw new Error(`${program} is not built: npm run build`)
  const env = { ...process.env, REDIS_URL: url, NODE_OPTIONS: '' }
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

/** Runs a command, one after the other, in a process that runs all those of a test file. */
export function cattlegrid(
  args: readonly string[],
  url: string = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? '',
): Promise<Ran> {
  const turn = last.then(async () => {
    host ??= fork(resolve(__dirname, 'host.mjs'), {
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
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

let host: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()
afterAll(() => void host?.kill())

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
