import { freePort } from '../free-port.ts'
import { type AppServer, build, programOf, start } from './built-app.ts'

type Env = Readonly<Record<string, string>>

const OWN: Env = { NEXT_TELEMETRY_DISABLED: '1' }

/** Builds the Next app of a folder, as `npm run build` does there. */
export async function buildNext(folder: string, env: Env = {}): Promise<void> {
  await build(folder, { node: process.execPath, args: [next(folder), 'build'], env: { ...OWN, ...env } })
}

/** A process of the app, as `npm start` runs it. */
export async function startNext(folder: string, env: Env = {}): Promise<AppServer> {
  const port = String(await freePort())
  const args = [next(folder), 'start', '--hostname', '127.0.0.1', '--port', port]
  const program = { node: process.execPath, args, env: { ...OWN, ...env } }
  return await start(folder, program, { origin: `http://127.0.0.1:${port}`, ready: 'Ready in' })
}

function next(folder: string): string {
  return programOf(folder, 'next', 'dist/bin/next')
}
