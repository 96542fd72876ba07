// What every house check looks at: the files of a repository, each read once and each source parsed once.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/** @typedef {{ file: string, line: number, message: string }} Fault */
/** @typedef {{ looked: string, faults: Fault[] }} Finding   `looked` says at what, so that a check that sees nothing shows */

const skipped = new Set([
  'node_modules',
  'dist',
  'coverage',
  '.git',
  '.stryker-tmp',
  '.svelte-kit',
  '.next',
  'build',
  'api',
])

function* filesBelow(root, folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = posix.join(folder, entry.name)
    if (skipped.has(entry.name)) continue
    if (entry.isDirectory()) yield* filesBelow(root, path)
    else yield path
  }
}

/** Calls `visit(node, parent, key)` for every node below, outermost first; `false` leaves out what is below that node. */
export function walk(node, visit, parent, key) {
  if (Array.isArray(node)) for (const child of node) walk(child, visit, parent, key)
  else if (typeof node?.type === 'string' && visit(node, parent, key) !== false) {
    for (const name in node) if (typeof node[name] === 'object') walk(node[name], visit, node, name)
  }
}

export class Tree {
  #texts = new Map()
  #modules = new Map()

  constructor(root) {
    this.root = root
    this.files = [...filesBelow(root, '.')].toSorted()
  }

  has(path) {
    return existsSync(join(this.root, path))
  }

  /** The files whose path matches. */
  matching(pattern) {
    return this.files.filter((file) => pattern.test(file))
  }

  text(file) {
    if (!this.#texts.has(file)) this.#texts.set(file, readFileSync(join(this.root, file), 'utf8'))
    return this.#texts.get(file)
  }

  json(file) {
    return JSON.parse(this.text(file))
  }

  /** The line of an offset, from 1. */
  lineAt(file, offset) {
    return this.text(file).slice(0, offset).split('\n').length
  }

  fault(file, offset, message) {
    return { file, line: this.lineAt(file, offset), message }
  }

  /** `{ program, comments }` of a source. */
  module(file) {
    if (!this.#modules.has(file)) this.#modules.set(file, this.#parse(file))
    return this.#modules.get(file)
  }

  #parse(file) {
    const { program, comments, errors } = parseSync(file, this.text(file))
    if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0].message}`)
    return { program, comments }
  }
}
