// Module hooks: each function of cattlegrid reports its file when it is entered.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'acorn'
import { full } from 'acorn-walk'

/** `core/lookup/lookup` in the address of a built module of ours. */
const OURS = /\/packages\/(\w+)\/dist\/esm\/(.+)\.js$/

interface Resolved {
  readonly format?: string | null
}

interface Loaded {
  readonly format: string
  readonly source: string
  readonly shortCircuit: true
}

export async function load(url: string, context: Resolved, next: (url: string, context: Resolved) => Promise<Loaded>) {
  const [, name, file] = OURS.exec(url) ?? []
  if (file === undefined || context.format !== 'module') return await next(url, context)
  const source = reporting(await readFile(fileURLToPath(url), 'utf8'), `${name}/${file}`)
  return { format: 'module', source, shortCircuit: true } satisfies Loaded
}

/** The source with a call at the beginning of each function. An arrow function without a block is part of the function around it. */
function reporting(source: string, file: string): string {
  const call = `globalThis.enterRoom?.(${JSON.stringify(file)});`
  const places: number[] = []
  full(parse(source, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    if (!('body' in node) || !/Function/.test(node.type)) return
    const body = node.body as { readonly type: string; readonly start: number }
    if (body.type === 'BlockStatement') places.push(body.start + 1)
  })
  let result = source
  for (const place of [...new Set(places)].toSorted((a, b) => b - a))
    result = result.slice(0, place) + call + result.slice(place)
  return result
}
