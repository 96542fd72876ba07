import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const jsc = {
  target: 'es2022',
  parser: { syntax: 'typescript', decorators: true },
  transform: { decoratorVersion: '2023-11' },
}

/** What was compiled before, by the hash of its source: most processes of a test run the same few files, and then load no compiler. */
const cache = new URL('../../node_modules/.cache/run-typescript/', import.meta.url)

/** Only files of TypeScript come through here; a loader that looks at every module of every dependency costs a second at each start. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const filename = fileURLToPath(url)
  const source = await readFile(filename, 'utf8')
  const kept = new URL(`${createHash('sha1').update(filename).update(source).digest('hex')}.js`, cache)
  const code = await readFile(kept, 'utf8').catch(() => compile(filename, source, kept))
  return { format: 'module', source: code, shortCircuit: true }
}

async function compile(filename, source, kept) {
  const { transform } = await import('@swc/core')
  const { code } = await transform(source, { filename, sourceMaps: 'inline', jsc })
  await mkdir(cache, { recursive: true })
  // Whole or not at all: another process may read it.
  const written = new URL(`${kept.href}.${process.pid}`)
  await writeFile(written, code)
  await rename(written, kept)
  return code
}
