import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { type AppServer, build, programOf, start } from './built-app.ts'

const node = process.execPath

/** Builds the SvelteKit app of a folder, as `npm run build` does there. */
export async function buildKit(folder: string): Promise<void> {
  await rm(join(folder, '.svelte-kit'), { recursive: true, force: true })
  await build(folder, { node, args: [programOf(folder, 'vite', 'bin/vite.js'), 'build'], env: {} })
}

export async function startKit(folder: string, env: Record<string, string> = {}): Promise<AppServer> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const own = { PORT: String(port), ORIGIN: origin, ADDRESS_HEADER: 'x-client-address' }
  const program = { node, args: ['build/index.js'], env: { ...own, ...env } }
  return await start(folder, program, { origin, ready: 'Listening' })
}
