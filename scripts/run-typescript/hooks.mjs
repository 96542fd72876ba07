import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from '@swc/core'

const jsc = {
  target: 'es2022',
  parser: { syntax: 'typescript', decorators: true },
  transform: { decoratorVersion: '2023-11' },
}

/** Only files of TypeScript come through here; a loader that looks at every module of every dependency costs a second at each start. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const filename = fileURLToPath(url)
  const { code } = await transform(await readFile(filename, 'utf8'), { filename, sourceMaps: 'inline', jsc })
  return { format: 'module', source: code, shortCircuit: true }
}
