// On a narrow screen a row of a table is a card. Its cells need their heading there, and the table its roles, which `display: block` takes from it.
import type { MarkdownRenderer } from 'vitepress'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

const roles: Readonly<Record<string, string>> = {
  table_open: 'table',
  thead_open: 'rowgroup',
  tbody_open: 'rowgroup',
  tr_open: 'row',
  th_open: 'columnheader',
  td_open: 'cell',
}

/** Gives every cell the heading of its column as `data-label`, and every part of a table its role. */
export function labelTables(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('labelled-tables', ({ tokens }) => {
    let labels: string[] = []
    let column = 0
    for (const [index, token] of tokens.entries()) {
      const role = roles[token.type]
      if (role === undefined) continue
      token.attrSet('role', role)
      if (token.type === 'table_open') labels = []
      else if (token.type === 'tr_open') column = 0
      else if (token.type === 'th_open') labels.push(textOf(tokens[index + 1]))
      else if (token.type === 'td_open') token.attrSet('data-label', labels[column++] ?? '')
    }
  })
}

const textOf = (token: Token | undefined): string =>
  (token?.children ?? [])
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('')
