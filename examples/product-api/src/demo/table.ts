import { styleText } from 'node:util'

export type Tone = 'good' | 'bad' | 'plain'

export interface Cell {
  readonly text: string
  readonly tone: Tone
}

export interface Row {
  readonly label: string
  readonly cells: readonly Cell[]
}

export interface Table {
  /** One or two lines each. */
  readonly heads: readonly string[]
  /** Rows, with a rule between two groups of them. */
  readonly groups: readonly (readonly Row[])[]
}

const COLOURS = { good: 'green', bad: 'red', plain: 'reset' } as const
const INDENT = '  '
const GAP = '  '

/** Labels to the left, figures to the right, each column as wide as its widest cell. */
export function renderTable(table: Table, colour: boolean): string {
  const all = table.groups.flat()
  const labelWidth = Math.max(...all.map((row) => row.label.length))
  const widths = table.heads.map((head, column) =>
    Math.max(...head.split('\n').map((text) => text.length), ...all.map((row) => row.cells[column]?.text.length ?? 0)),
  )
  // Padded before it is coloured: escape codes have a length but no width.
  const cell = ({ text, tone }: Cell, column: number): string =>
    paint(text.padStart(widths[column] ?? 0), COLOURS[tone], colour && tone !== 'plain')
  const line = (label: string, cells: readonly string[]): string =>
    INDENT + [label.padEnd(labelWidth), ...cells].join(GAP)

  const headLines = Math.max(...table.heads.map((head) => head.split('\n').length))
  const heads = Array.from({ length: headLines }, (_, place) =>
    line(
      '',
      table.heads.map((head, column) => {
        const text = head.split('\n').at(place - headLines) ?? ''
        return paint(text.padStart(widths[column] ?? 0), 'bold', colour)
      }),
    ),
  )
  const rule = INDENT + '─'.repeat(labelWidth + widths.reduce((sum, width) => sum + width + GAP.length, 0))
  const groups = table.groups.map((rows) => [...rows.map((row) => line(row.label, row.cells.map(cell))), rule])
  return [...heads, rule, ...groups.flat()].join('\n')
}

function paint(text: string, format: 'bold' | (typeof COLOURS)[Tone], colour: boolean): string {
  return colour ? styleText(format, text, { validateStream: false }) : text
}
