// A document links to whatever the repository has. What is no page of the site has an address only where its repository has one.
import { existsSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

/** Where a workflow of GitHub finds the sources that it builds the site from; undefined elsewhere. */
export function sourceAddress(env: NodeJS.ProcessEnv): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_SHA: commit } = env
  return server && repository && commit ? `${server}/${repository}/tree/${commit}` : undefined
}

/** @throws where a relative link leads to nothing. */
export function linkRepositoryFiles(markdown: MarkdownRenderer, root: string, source: string | undefined): void {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens) linkChildren(children ?? [], env.relativePath, root, source)
  })
}

function linkChildren(tokens: readonly Token[], page: string, root: string, source: string | undefined): void {
  const open: Token[] = []
  for (const token of tokens) {
    if (token.type === 'link_open') {
      open.push(token)
      linkOne(token, page, root, source)
    } else if (token.type === 'link_close') token.tag = open.pop()?.tag ?? token.tag
  }
}

function linkOne(token: Token, page: string, root: string, source: string | undefined): void {
  const [, target = '', fragment = ''] = /^(?![a-z]+:|[#/])([^#]+)(#.*)?$/.exec(token.attrGet('href') ?? '') ?? []
  if (target === '') return
  const path = posix.join(posix.dirname(page), decodeURI(target))
  const file = join(root, path)
  if (!existsSync(file)) throw new Error(`${page}: a link to ${target}, which does not exist`)
  if (path === 'README.md') token.attrSet('href', `/${fragment}`)
  else if (existsSync(join(file, 'README.md'))) token.attrSet('href', posix.join('/', path, 'README.md') + fragment)
  else if (statSync(file).isFile() && path.endsWith('.md')) return
  else if (source !== undefined) token.attrSet('href', `${source}/${path}`)
  else {
    token.tag = 'span'
    token.attrs = [['title', `${path}, in the repository`]]
  }
}
