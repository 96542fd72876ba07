import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** An app that a framework has built, as its users run it: in a process of its own. */
export interface AppServer {
  readonly origin: string
  output(): string
  /** Lets the process end by itself. Resolves to its code. */
  end(): Promise<number | null>
  stop(): Promise<void>
}

/** How a process of an app is started. */
export interface AppProgram {
  readonly node: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The path of a program that a package of the app has. */
export function programOf(folder: string, name: string, program: string): string {
  return join(dirname(createRequire(join(folder, 'package.json')).resolve(`${name}/package.json`)), program)
}

/** Runs a build in the folder of an app. */
export async function build(folder: string, program: AppProgram): Promise<void> {
  const child = spawnIn(folder, program)
  const output = outputOf(child)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(output())
}

/** Starts the server of an app that listens at `origin` once its output has `ready`. */
export async function start(
  folder: string,
  program: AppProgram,
  { origin, ready }: { readonly origin: string; readonly ready: string },
): Promise<AppServer> {
  const child = spawnIn(folder, program)
  const output = outputOf(child)
  const exited = once(child, 'exit')
  while (!output().includes(ready)) {
    if (child.exitCode !== null) throw new Error(output())
    await Promise.race([once(child.stdout, 'data'), exited])
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  const end = async (): Promise<number | null> => {
    child.kill('SIGTERM')
    await exited
    return child.exitCode
  }
  return { origin, output, end, stop }
}

/** With the NODE_ENV of production: that of Jest is not that of a build. */
function spawnIn(cwd: string, { node, args, env }: AppProgram) {
  const all = { ...process.env, NODE_ENV: 'production', ...env }
  return spawn(node, args, { cwd, env: all, stdio: ['ignore', 'pipe', 'pipe'] })
}

function outputOf({ stdout, stderr }: ChildProcess): () => string {
  let output = ''
  for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  return () => output
}
