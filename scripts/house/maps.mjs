// Maps that are kept by hand name only what exists: trees in fenced blocks, relative links with their fragments, `npm run` commands.
import { posix } from 'node:path'
import { commands } from '../commands.mjs'
import { fragmentOf } from '../docs/fragment.mjs'

const lineOf = (text, offset) => text.slice(0, offset).split('\n').length

/**
 * The paths of a drawn tree: the first word of a line below the words of less indented lines, box characters dropped.
 * A block is a tree when it draws packages/; a first word without a slash or an extension continues the line above.
 */
function* pathsDrawn(block) {
  if (!/^\W*packages\//m.test(block)) return
  const above = []
  let line = 0
  for (const text of block.split('\n')) {
    line += 1
    const [, indent, name] = /^([\s│├└─|]*)(\.?[\w@{][\w@{},.*/-]*)/.exec(text) ?? []
    if (name === undefined || !/\/$|\.\w+$/.test(name)) continue
    while (above.length > 0 && above.at(-1).indent >= indent.length) above.pop()
    const path = posix.join(above.at(-1)?.path ?? '', name)
    if (name.endsWith('/')) above.push({ indent: indent.length, path })
    if (!/[*{]/.test(path)) yield { path, line }
  }
}

function* treeFaults(tree, file, text) {
  for (const { 1: block, index } of text.matchAll(/^```(?:text|tree)?\n([\s\S]*?)^```/gm)) {
    for (const { path, line } of pathsDrawn(block)) {
      if (!tree.has(path))
        yield {
          file,
          line: lineOf(text, index) + line,
          message: `the tree names ${path}, which does not exist: draw what is there`,
        }
    }
  }
}

function* linkFaults(tree, file, text) {
  for (const { 1: target, 2: fragment, index } of text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?[^)]*\)/g)) {
    const path = target === '' ? file : posix.join(posix.dirname(file), target)
    const line = lineOf(text, index)
    if (!tree.has(path)) yield { file, line, message: `a link to ${target}, which does not exist` }
    else if (fragment !== undefined && path.endsWith('.md') && !fragmentsOf(tree.text(path)).has(fragment))
      yield { file, line, message: `a link to ${target}#${fragment}, which no heading has` }
  }
}

/** The fragments of the headings of a document; GitHub numbers those that occur again. */
function fragmentsOf(text) {
  const fragments = new Set()
  for (const [, heading] of text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const fragment = fragmentOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    let times = 0
    while (fragments.has(times === 0 ? fragment : `${fragment}-${times}`)) times += 1
    fragments.add(times === 0 ? fragment : `${fragment}-${times}`)
  }
  return fragments
}

function* commandFaults(tree, file, text) {
  const { scripts = {} } = tree.json('package.json')
  const named = /\bnpm (?:run ([\w:-]+)|(test))(?: -- ([a-z][\w-]*))?/g
  for (const { 1: run, 2: script = run, 3: name, index } of text.matchAll(named)) {
    const line = lineOf(text, index)
    if (!(script in scripts)) yield { file, line, message: `npm run ${script} is no script of package.json` }
    else if (name !== undefined && script in commands && !(name in commands[script]))
      yield { file, line, message: `npm run ${script} -- ${name} is no command of scripts/commands.mjs` }
  }
}

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkMaps(tree) {
  const files = tree.matching(/\.md$|^\.ci\/run$/)
  const faults = files.flatMap((file) => {
    const text = tree.text(file)
    return [...treeFaults(tree, file, text), ...linkFaults(tree, file, text), ...commandFaults(tree, file, text)]
  })
  return { looked: `${files.length} documents`, faults }
}
