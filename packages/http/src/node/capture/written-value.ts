import { hasRun } from './telling-run.ts'

/** A piece of a field's value: the text of a line, or what follows a comma in one. */
export interface Piece {
  readonly text: string
  /** Written by the handler or a layer inside. */
  readonly inside: boolean
  /** Continues the line before it. */
  readonly continues: boolean
}

/** A field's value by its writers. */
export interface WrittenValue {
  readonly pieces: readonly Piece[]
  /** The inside has put what a layer outside had set into text of its own. */
  readonly isMixed: boolean
}

export function piecesOf(lines: readonly string[], inside: boolean): readonly Piece[] {
  return lines.map((text) => ({ text, inside, continues: false }))
}

export function linesOfPieces(pieces: readonly Piece[]): readonly string[] {
  const lines: string[] = []
  for (const { text, continues } of pieces)
    if (continues && lines.length > 0) lines.push(`${lines.pop() ?? ''}, ${text}`)
    else lines.push(text)
  return lines
}

/** Lines that code has put into one: a list of JavaScript as text has no blanks. */
const SEPARATED = [', ', ',']

/**
 * The value after somebody has set these lines. `wasRead`: the writer has read the present value, and may
 * have used it. What continues the present value, as `append` and the package vary do, is the writer's own;
 * without a read, the present value counts as used only if it is long enough to tell.
 */
export function afterSet(
  { pieces, isMixed }: WrittenValue,
  lines: readonly string[],
  { inside, wasRead }: { readonly inside: boolean; readonly wasRead: boolean },
): WrittenValue {
  const whole = { pieces: piecesOf(lines, inside), isMixed: false }
  const others = pieces.filter((piece) => piece.inside !== inside).map(({ text }) => text)
  if (others.length === 0) return whole
  const present = linesOfPieces(pieces)
  const [line = ''] = lines
  const joined = SEPARATED.map((comma) => present.join(comma)).find((text) => line.startsWith(text))
  if (present.length > 1 && lines.length === 1 && joined !== undefined) {
    const inOneLine = pieces.map((piece, index) => (index === 0 ? piece : { ...piece, continues: true }))
    return afterSet({ pieces: inOneLine, isMixed }, [present.join(', ') + line.slice(joined.length)], {
      inside,
      wasRead,
    })
  }
  // Read and set again: nothing was written. Not read: the writer has come to the same value.
  if (sameLines(lines, present)) return wasRead ? { pieces, isMixed } : whole
  if (!others.some((text) => isUsed(text, lines, wasRead))) return whole
  const added = addedPieces(lines, present, inside)
  const usesMore = added?.some(({ text }) => others.some((other) => isUsed(other, [text], wasRead))) ?? true
  return added === undefined || usesMore ? mixedValue(lines) : { pieces: [...pieces, ...added], isMixed }
}

/**
 * The whole is as little the inside's own as what was put into it: whoever reads it and goes on has put that
 * into his value, too.
 */
export function mixedValue(lines: readonly string[]): WrittenValue {
  return { pieces: piecesOf(lines, false), isMixed: true }
}

/** The pieces after the present lines; undefined where these are no beginning of the new ones. */
function addedPieces(
  lines: readonly string[],
  present: readonly string[],
  inside: boolean,
): readonly Piece[] | undefined {
  const last = present.length - 1
  if (!sameLines(lines.slice(0, last), present.slice(0, last))) return undefined
  const [line = '', ...more] = lines.slice(last)
  const before = present[last] ?? ''
  if (line === before) return piecesOf(more, inside)
  const rest = /^[ \t]*,[ \t]*(.+)$/s.exec(line.startsWith(before) ? line.slice(before.length) : '')?.[1]
  return rest === undefined ? undefined : [{ text: rest, inside, continues: true }, ...piecesOf(more, inside)]
}

/** A shorter text may stand in another one by chance. */
const TELLING_VALUE = 16

/** True if a writer who has read these texts may have put one of them into the lines. */
export function isAnyUsed(texts: readonly string[], lines: readonly string[]): boolean {
  return texts.some((text) => isUsed(text, lines, true))
}

function isUsed(text: string, lines: readonly string[], wasRead: boolean): boolean {
  if (text === '') return false
  if (!wasRead) return text.length >= TELLING_VALUE && lines.some((line) => hasWhole(line, text))
  const lower = text.toLowerCase()
  return lines.some((line) => line.toLowerCase().includes(lower) || hasRun(line, text))
}

/** `max-age=60` does not stand in `max-age=600`. */
function hasWhole(line: string, text: string): boolean {
  const from = line.indexOf(text)
  return from >= 0 && !isOfWord(line[from - 1]) && !isOfWord(line[from + text.length])
}

function isOfWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character)
}

export function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index])
}
