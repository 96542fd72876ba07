import { hasRun, TELLING_RUN } from './telling-run.ts'
import type { Piece } from './written-value.ts'

/**
 * What the inside has read of a field: the pieces of the value, and each text in it that a layer outside
 * had set.
 */
interface ReadValue {
  readonly pieces: readonly Piece[]
  readonly texts: ReadonlySet<string>
  /** Read by its name, not only with all fields. */
  readonly isMeant: boolean
}

/**
 * The values of layers outside that the inside has read, and may put into any field that it sets from then
 * on. Whatever becomes of the field itself, its value stays known.
 */
export class OuterValues {
  readonly #read = new Map<string, ReadValue>()

  /** `altered`: what a layer outside has made of the value; undefined: nothing else. */
  note(name: string, pieces: readonly Piece[], altered: readonly string[] | undefined, isMeant: boolean): void {
    const texts = altered ?? pieces.filter(({ inside }) => !inside).map(({ text }) => text)
    if (texts.length === 0) return
    const known = this.#read.get(name)
    this.#read.set(name, {
      pieces,
      texts: new Set([...(known?.texts ?? []), ...texts]),
      isMeant: isMeant || known?.isMeant === true,
    })
  }

  /** The value of a field when the inside read it. */
  piecesOf(name: string): readonly Piece[] | undefined {
    return this.#read.get(name)?.pieces
  }

  /**
   * True if what the inside has written in a field may hold a value of another field, or of this one before
   * it was removed.
   */
  isIn(pieces: readonly Piece[], name: string): boolean {
    const lines = pieces.filter(({ inside }) => inside).map(({ text }) => text.toLowerCase())
    if (lines.length === 0) return false
    const others = [...this.#read].filter(([other]) => other !== name)
    return others.some(([, { texts, isMeant }]) =>
      [...texts].some((text) => lines.some((line) => mayHold(line, text.toLowerCase(), isMeant))),
    )
  }

  clear(): void {
    this.#read.clear()
  }
}

function mayHold(line: string, text: string, isMeant: boolean): boolean {
  if (text === '' || line === text) return text !== ''
  if (text.length < TELLING_RUN) return isMeant && line.split(/\W+/).includes(text)
  return line.includes(text) || hasRun(line, text)
}
