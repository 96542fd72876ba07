// A document links to whatever the repository has. What is no page of the site has an address only where its repository has one.
import { existsSync, statSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

/** It stands at the root of the site, so its relative links lead elsewhere there. */
export const FIRST_PAGE = 'docs/index.md'

interface Place {
  readonly page: string
  /** The page has another path on the site. */
  readonly moved: boolean
  readonly root: string
  readonly source: string | undefined
}

/** Where a workflow of GitHub finds the sources that it builds the site from; elsewhere the repository's branch, if it has an address. */
export function sourceAddress(env: NodeJS.ProcessEnv, address: string | undefined): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_SHA: commit } = env
  if (server && repository && commit) return `${server}/${repository}/tree/${commit}`
  return address && `${address}/tree/main`
}

/** @throws where a relative link leads to nothing. */
export function linkRepositoryFiles(markdown: MarkdownRenderer, root: string, source: string | undefined): void {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    // A title of a page's head is parsed, too: it has no place, and no link.
    const page = relative(root, env.realPath ?? env.path ?? root).replaceAll(sep, '/')
    for (const { children } of tokens) linkChildren(children ?? [], { page, moved: page === FIRST_PAGE, root, source })
  })
}

function linkChildren(tokens: readonly Token[], place: Place): void {
  const open: Token[] = []
  for (const token of tokens) {
    if (token.type === 'link_open') {
      open.push(token)
      linkOne(token, place)
    } else if (token.type === 'link_close') token.tag = open.pop()?.tag ?? token.tag
  }
}

function linkOne(token: Token, { page, moved, root, source }: Place): void {
  const [, target = '', fragment = ''] = /^(?![a-z]+:|[#/])([^#]+)(#.*)?$/.exec(token.attrGet('href') ?? '') ?? []
  if (target === '') return
  const path = posix.join(posix.dirname(page), decodeURI(target))
  const file = join(root, path)
  if (!existsSync(file)) throw new Error(`${page}: a link to ${target}, which does not exist`)
  if (existsSync(join(file, 'README.md'))) token.attrSet('href', posix.join('/', path, 'README.md') + fragment)
  else if (statSync(file).isFile() && path.endsWith('.md')) {
    if (moved) token.attrSet('href', posix.join('/', path) + fragment)
  } else if (source !== undefined) token.attrSet('href', `${source}/${path}`)
  else {
    token.tag = 'span'
    token.attrs = [['title', `${path}, in the repository`]]
  }
}
