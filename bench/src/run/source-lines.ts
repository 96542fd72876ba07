// What a reader of the source has before him: its lines, by what they are.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Column, Row } from './result.ts'

const PACKAGES = fileURLToPath(new URL('../../../packages/', import.meta.url))

/** The lines of some sources; those that a program writes do not count. */
export interface SourceLines {
  files: number
  lines: number
  comments: number
  blank: number
  imports: number
}

export const lineColumns: readonly Column[] = ['files', 'lines', 'code', 'comments', 'imports', 'blank'].map((id) => ({
  id,
  title: id,
  digits: 0,
}))

/** The sources of a package. */
export function sourceLines(name: string): SourceLines {
  const total: SourceLines = { files: 0, lines: 0, comments: 0, blank: 0, imports: 0 }
  const folder = join(PACKAGES, name, 'src')
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts') && !file.endsWith('.generated.ts')) count(readFileSync(join(folder, file), 'utf8'), total)
  return total
}

export function sumOf(all: readonly SourceLines[]): SourceLines {
  const total: SourceLines = { files: 0, lines: 0, comments: 0, blank: 0, imports: 0 }
  for (const lines of all) for (const kind of Object.keys(total) as (keyof SourceLines)[]) total[kind] += lines[kind]
  return total
}

export function lineRow(name: string, lines: SourceLines): Row {
  const code = lines.lines - lines.comments - lines.blank - lines.imports
  return { name, is: 'ours', cells: { ...lines, code } }
}

function count(text: string, total: SourceLines): void {
  let inside: 'comment' | 'import' | undefined
  total.files += 1
  for (const line of text
    .trimEnd()
    .split('\n')
    .map((each) => each.trim())) {
    total.lines += 1
    if (inside === undefined && line.startsWith('/*')) inside = 'comment'
    if (inside === undefined && /^import\b/.test(line)) inside = 'import'
    if (inside === 'comment' || line.startsWith('//')) total.comments += 1
    else if (inside === 'import') total.imports += 1
    else if (line === '') total.blank += 1
    if (inside === 'comment' && line.endsWith('*/')) inside = undefined
    if (inside === 'import' && line.endsWith("'")) inside = undefined
  }
}
