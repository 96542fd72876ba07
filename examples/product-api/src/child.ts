import { fork, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** A start that takes this long hangs; a busy machine needs a good part of it. */
const START_AT_MOST_MS = 150_000
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
  const complaints = complaintsOf(child)
  const stop = stopper(child, complaints.mute)
  options.onSpawn?.(stop)
  const name = [file.replace('./', ''), ...(options.args ?? [])].join(' ')
  const url = await firstMessage(child, name, complaints)
  complaints.forward()
  return { pid: child.pid ?? 0, url, process: child, stop }
}

function firstMessage(child: ChildProcess, name: string, complaints: Complaints): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new Error(`${name} could not be started`, { cause })))
    // Not 'exit': what it has written is read by now.
    child.once('close', (code, signal) => {
      const end = signal ?? `exit code ${code}`
      // A Ctrl-C that reaches it before it has left the group of its parent has reached that, too.
      if (signal !== 'SIGINT') reject(new Error(`${name} ended before it was ready (${end})${complaints.cause()}`))
    })
    setTimeout(
      () => reject(new Error(`${name} was not ready after ${START_AT_MOST_MS / 1_000} s${complaints.cause()}`)),
      START_AT_MOST_MS,
    ).unref()
    child.once('message', (message: { url: string }) => resolve(message.url))
  })
}

/** What a process writes to stderr. */
interface Complaints {
  /** The first error that it wrote, without its stack, after a colon. */
  readonly cause: () => string
  /** Passes all of it on from now on, up to a limit: one fault may be logged for every request. */
  readonly forward: () => void
  readonly mute: () => void
}

function complaintsOf(child: ChildProcess): Complaints {
  let text = ''
  let left = MOST_COMPLAINTS
  let forwards = false
  const pass = (): void => {
    process.stderr.write(text.slice(0, Math.max(0, left)))
    left -= text.length
    text = ''
  }
  child.stderr?.on('data', (chunk: Buffer) => {
    if (text.length < MOST_COMPLAINTS) text += chunk.toString()
    if (forwards) pass()
  })
  return {
    cause: () => {
      const lines = text.split('\n').map((line) => line.trim())
      const found =
        lines.find((line) => /^(?:Uncaught )?\w*Error\b.*?: /.test(line)) ?? lines.findLast((line) => line !== '')
      return found === undefined ? '' : `: ${found.replace(/^(?:Uncaught )?\w*Error\b.*?: /, '')}`
    },
    forward: () => {
      forwards = true
      pass()
    },
    mute: () => (left = 0),
  }
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
