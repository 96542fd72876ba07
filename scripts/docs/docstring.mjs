// What a doc comment says of a member, in one line of Markdown.

/** The text of the doc comment right above a member; '' when there is none. */
export function docOf(tree, { file, node }) {
  const text = tree.text(file)
  const comment = tree
    .module(file)
    .comments.find(
      ({ type, value, end }) =>
        type === 'Block' && value.startsWith('*') && end <= node.start && text.slice(end, node.start).trim() === '',
    )
  const lines = (comment?.value ?? '').split('\n').map((line) => line.replace(/^\s*\*?/, '').trim())
  return lines.join(' ').trim()
}

/** Splits "Fresh for. Default: `'5s'`." into its meaning and its default; `default` is undefined where none is told. */
export function splitDefault(doc) {
  const { 1: given, 2: without, index } = /(?:^|\s)(?:Default: (.+)|No default(?:: (.+))?)\.$/.exec(doc) ?? {}
  if (index === undefined) return { meaning: doc, default: undefined }
  return { meaning: doc.slice(0, index), default: given ?? (without === undefined ? 'none' : `none: ${without}`) }
}

/** A table in Markdown; `others` aligns all columns but the first. A bar inside a cell would end it, even inside code. */
export function table(head, rows, others = '---') {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : others))), ...rows.map(line)].join('\n')
}
