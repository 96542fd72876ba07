import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { freePort } from '../free-port.ts'
import { type AppServer, build, programOf, start } from './built-app.ts'

const FROM_NPM = resolve(__dirname, '../../scripts/from-npm.mjs')

/** Astro 7 needs Node 22. */
const node =
  Number(process.versions.node.split('.')[0]) >= 22
    ? process.execPath
    : printed(`import('${FROM_NPM}').then(({ nodeBinary }) => console.log(nodeBinary(22)))`)

/** Builds the Astro app of a folder, as `npm run build` does there. */
export async function buildAstro(folder: string, env: Record<string, string> = {}): Promise<void> {
  const args = [programOf(folder, 'astro', 'bin/astro.mjs'), 'build']
  await build(folder, { node, args, env: { ASTRO_TELEMETRY_DISABLED: '1', ...env } })
}

/** `output`: the folder of what was built. */
export async function startAstro(
  folder: string,
  { output = 'dist', env = {} }: { readonly output?: string; readonly env?: Record<string, string> } = {},
): Promise<AppServer> {
  const port = await freePort()
  const own = { PORT: String(port), HOST: '127.0.0.1' }
  const program = { node, args: [`${output}/server/entry.mjs`], env: { ...own, ...env } }
  return await start(folder, program, { origin: `http://127.0.0.1:${port}`, ready: 'listening' })
}

function printed(code: string): string {
  return execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' }).trim()
}
