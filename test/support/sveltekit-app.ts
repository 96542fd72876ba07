import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { freePort } from '../free-port.ts'

/** A SvelteKit app as its users run it: built by Vite, and served by a process of its own. */
export interface KitServer {
  readonly origin: string
  output(): string
  /** Lets the process end by itself. Resolves to its code. */
  end(): Promise<number | null>
  stop(): Promise<void>
}

/** Builds the app of a folder, as `npm run build` does there. */
export async function buildKit(folder: string): Promise<void> {
  await rm(join(folder, '.svelte-kit'), { recursive: true, force: true })
  const vite = join(dirname(createRequire(join(folder, 'package.json')).resolve('vite/package.json')), 'bin/vite.js')
  // Jest's own NODE_ENV is not that of a build.
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = spawn(process.execPath, [vite, 'build'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = outputOf(child)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(output())
}

export async function startKit(folder: string, env: Record<string, string> = {}): Promise<KitServer> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const own = { PORT: String(port), ORIGIN: origin, ADDRESS_HEADER: 'x-client-address', NODE_ENV: 'production' }
  const child = spawn(process.execPath, ['build/index.js'], {
    cwd: folder,
    env: { ...process.env, ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = outputOf(child)
  const exited = once(child, 'exit')
  while (!output().includes('Listening')) {
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

function outputOf({ stdout, stderr }: ChildProcess): () => string {
  let output = ''
  for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  return () => output
}
