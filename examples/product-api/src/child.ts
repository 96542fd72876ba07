import { fork, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const START_AT_MOST_MS = 60_000
const STOP_GRACE_MS = 6_000
/** Of stderr, bytes a process. */
const MOST_COMPLAINTS = 16_384

export interface Child {
  readonly pid: number
  /** Where it listens, as it reported. */
  readonly url: string
  /** For its messages and its end. */
  readonly process: ChildProcess
  readonly stop: () => Promise<void>
}

export interface ChildOptions {
  /** For Node, not for the file. */
  readonly flags?: readonly string[] | undefined
  readonly args?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Called as soon as the process exists, before it is ready: from then on `stop` can end it. */
  readonly onSpawn?: ((stop: () => Promise<void>) => void) | undefined
}

/** Starts a TypeScript file of this folder as a process; resolves when it has reported its URL. */
export async function startChild(file: string, options: ChildOptions = {}): Promise<Child> {
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('@cattlegrid/run-typescript')).href
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), options.args ?? [], {
    execArgv: [...(options.flags ?? []), '--import', loader],
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A Ctrl-C in the terminal does not reach it: its parent ends it, in the right order.
    detached: true,
  })
  const mute = forwardComplaints(child)
  const stop = stopper(child, mute)
  options.onSpawn?.(stop)
  const url = await firstMessage(child, file)
  return { pid: child.pid ?? 0, url, process: child, stop }
}

function firstMessage(child: ChildProcess, file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      // A Ctrl-C that reaches it before it has left the group of its parent has reached that, too.
      if (signal !== 'SIGINT') reject(new Error(`${file} ended before it was ready (${signal ?? code})`))
    })
    setTimeout(
      () => reject(new Error(`${file} was not ready after ${START_AT_MOST_MS / 1_000} s`)),
      START_AT_MOST_MS,
    ).unref()
    child.once('message', (message: { url: string }) => resolve(message.url))
  })
}

/** Passes on what the process writes to stderr, up to a limit: one fault may be logged for every request. */
function forwardComplaints(child: ChildProcess): () => void {
  let left = MOST_COMPLAINTS
  child.stderr?.on('data', (chunk: Buffer) => {
    if (left > 0) process.stderr.write(chunk)
    left -= chunk.length
  })
  return () => (left = 0)
}

function stopper(child: ChildProcess, mute: () => void): () => Promise<void> {
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  return async () => {
    // Its messages about requests that are aborted from here on are expected.
    mute()
    // A frozen process handles SIGTERM only after SIGCONT.
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS)
    await exited
    clearTimeout(kill)
  }
}
