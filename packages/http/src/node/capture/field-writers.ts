import { type HeaderFields, linesOf, noFields, toText } from '../../fields/header-fields.ts'
import {
  afterSet,
  isAnyUsed,
  linesOfPieces,
  mixedValue,
  type Piece,
  piecesOf,
  sameLines,
  type WrittenValue,
} from './written-value.ts'
import { OF_THE_BODY } from '../../response/recorded-fields.ts'
import { OuterValues } from './outer-values.ts'
import { VaryWriters } from './vary-writers.ts'

/** What is known of a field that somebody has touched. */
interface Touched {
  readonly written: WrittenValue
  /** The lines that Node's response then had: a layer outside may have replaced `setHeader`. */
  readonly present: readonly string[]
  /** The inside has read the present value. */
  readonly wasRead: boolean
  /**
   * The inside has appended, and there was nothing to append to: no layer outside had set the field, and
   * nobody has removed it.
   */
  readonly appendsToNothing: boolean
  readonly wasRemoved: boolean
}

/** The fields of a response by their writers. */
export interface FieldsByWriter {
  /** As the inside has set them, before a `setHeader` of layers outside. */
  readonly fields: HeaderFields
  /** What layers outside have set; not a field that the inside has set itself, whatever its value. */
  readonly before: HeaderFields
  /** What the inside has appended to fields of layers outside: lines, or a text that follows a comma. */
  readonly appended: HeaderFields
  /** The names of fields in which the inside has put what a layer outside had set into text of its own. */
  readonly mixed: readonly string[]
}

/**
 * Notes who writes which field while a handler runs, so that no value of a layer outside is taken for the
 * handler's: the values alone do not show it. The inside is the handler and the layers inside the cache, and
 * whoever cannot be told from them.
 */
export class FieldWriters {
  readonly #before: HeaderFields
  readonly #touched = new Map<string, Touched>()
  readonly #vary: VaryWriters
  readonly #outerRead = new OuterValues()
  #allRead = false
  #appending = false

  /** `before`: the fields that were set when the handler began. */
  constructor(before: HeaderFields) {
    this.#before = before
    this.#vary = new VaryWriters(linesOf(before, 'vary'))
  }

  /**
   * What the inside gets when it reads a field: `Vary` without the names that must not look as if they were
   * its own.
   */
  read(name: unknown, value: unknown): unknown {
    const key = keyOf(name)
    if (key === undefined) return value
    if (key === 'vary') return this.#vary.read(value)
    const known = this.#known(key)
    this.#noteRead(key, known, true)
    if (known.present.length > 0 && !known.wasRead) this.#touched.set(key, { ...known, wasRead: true })
    return value
  }

  /** The inside has read all fields. */
  readAll(): void {
    this.#allRead = true
    this.#vary.readAll()
    for (const name of new Set([...Object.keys(this.#before), ...this.#touched.keys()]))
      if (name !== 'vary') this.#noteRead(name, this.#known(name), false)
  }

  /** Notes that the inside is about to set `Vary`; returns the value to set. */
  varyToSet(value: unknown, present: unknown): unknown {
    return this.#vary.set(value, present)
  }

  /** Notes a value that was set; `present`: the lines that the response has now. */
  set(name: unknown, value: unknown, present: unknown, inside: boolean): void {
    const key = keyOf(name)
    if (key === undefined || key === 'vary') return
    const known = this.#known(key)
    const lines = textsOf(value)
    const written = inside
      ? this.#setInside(key, known, lines, known.wasRead || this.#allRead)
      : afterSet(known.written, lines, { inside, wasRead: false })
    this.#note(key, written, present, inside && this.#appending && appendsToNothing(known) ? 'appended' : 'set')
  }

  /**
   * Runs a method that appends by a read and a set, of which a read of nothing does not show that the value
   * is to be appended.
   */
  append<T>(call: () => T): T {
    const around = this.#appending
    this.#appending = true
    try {
      return call()
    } finally {
      this.#appending = around
    }
  }

  /**
   * To be called before a line is added; returns the function that notes it. Node itself may set the field
   * for it.
   */
  appending(name: unknown, value: unknown, inside: boolean): (present: unknown) => void {
    const key = keyOf(name)
    if (key === undefined) return () => undefined
    if (key === 'vary') return () => (inside ? this.#vary.append(value) : undefined)
    const known = this.#known(key)
    const { pieces, isMixed } = known.written
    const added = piecesOf(textsOf(value), inside)
    const written = { pieces: [...pieces, ...added], isMixed: isMixed || (inside && this.#outerRead.isIn(added, key)) }
    return (present) => this.#note(key, written, present, inside && appendsToNothing(known) ? 'appended' : 'set')
  }

  remove(name: unknown): void {
    const key = keyOf(name)
    if (key !== undefined) this.#note(key, { pieces: [], isMixed: false }, undefined, 'removed')
  }

  /** Forgets what was noted: the response has the fields again that it had before the handler. */
  restart(): void {
    this.#touched.clear()
    this.#allRead = false
    this.#outerRead.clear()
    this.#vary.restart()
  }

  /**
   * `fields`: those of the response at the cache's layer; `passed`: those of them that come with `writeHead`.
   */
  byWriter(fields: HeaderFields, passed: HeaderFields = noFields()): FieldsByWriter {
    for (const name of Object.keys(passed)) this.set(name, passed[name], passed[name], true)
    if (passed['vary'] !== undefined) this.#vary.pass(passed['vary'])
    const found = {
      fields: Object.assign(noFields(), fields),
      before: Object.assign(noFields(), this.#before),
      appended: noFields(),
    }
    const mixed: string[] = []
    for (const name of new Set([...this.#touched.keys(), ...Object.keys(fields)])) {
      // A framework may append to the cookies that it is told to set. They are for one client anyway.
      if (name === 'vary' || name === 'set-cookie') continue
      const { pieces, isMixed } = this.#settled(name, fields)
      const outer = leading(pieces, false)
      const inner = pieces.slice(outer.length)
      if ((isMixed || inner.some(({ inside }) => !inside)) && this.#isOfClient(name, pieces)) mixed.push(name)
      if (pieces.length === 0) {
        // Removed, also where the layers outside of this request had not set it.
        found.before[name] ??= ''
        continue
      }
      found.fields[name] = valueOf(pieces)
      if (outer.length === 0) delete found.before[name]
      else found.before[name] = valueOf(outer)
      const isAppended = outer.length > 0 || (this.#touched.get(name)?.appendsToNothing === true && !SINGLE.has(name))
      if (isAppended && inner.length > 0) found.appended[name] = appendedOf(inner)
    }
    const vary = this.#vary.namesBefore(linesOf(this.#before, 'vary'))
    if (vary === undefined) delete found.before['vary']
    else found.before['vary'] = vary
    return { ...found, mixed }
  }

  /**
   * What the response has, where somebody has written it past the methods that are watched: he may have used
   * what was there.
   */
  #settled(name: string, fields: HeaderFields): WrittenValue {
    const { written, present } = this.#known(name)
    const lines = linesOf(fields, name)
    if (sameLines(lines, present)) return written
    return lines.length === 0 ? { pieces: [], isMixed: false } : this.#setInside(name, this.#known(name), lines, true)
  }

  /**
   * The value after the inside has set these lines. A field that it has read and then removed or replaced
   * still counts as read.
   */
  #setInside(name: string, known: Touched, lines: readonly string[], wasRead: boolean): WrittenValue {
    if (wasRead && isAltered(known) && isAnyUsed(known.present, lines)) return mixedValue(lines)
    const isOuter = known.written.isMixed || known.written.pieces.some(({ inside }) => !inside)
    const gone = isOuter ? undefined : this.#outerRead.piecesOf(name)
    const present = gone === undefined ? known.written : { pieces: gone, isMixed: false }
    const written = afterSet(present, lines, { inside: true, wasRead: wasRead || gone !== undefined })
    return this.#outerRead.isIn(written.pieces, name) ? mixedValue(lines) : written
  }

  /**
   * Fields of the body are stored whichever layer has set them: only what comes from another field is of
   * one client.
   */
  #isOfClient(name: string, pieces: readonly Piece[]): boolean {
    return !OF_THE_BODY.has(name) || this.#outerRead.isIn(piecesOf(linesOfPieces(pieces), true), name)
  }

  #noteRead(name: string, known: Touched, isMeant: boolean): void {
    // Frameworks read these themselves, to know what they send.
    if (OF_THE_BODY.has(name)) return
    this.#outerRead.note(name, known.written.pieces, isAltered(known) ? known.present : undefined, isMeant)
  }

  #known(name: string): Touched {
    const known = this.#touched.get(name)
    if (known !== undefined) return known
    const present = linesOf(this.#before, name)
    const written = { pieces: piecesOf(present, false), isMixed: false }
    return { written, present, wasRead: false, appendsToNothing: false, wasRemoved: false }
  }

  /** `appended`: to nothing. */
  #note(name: string, written: WrittenValue, present: unknown, how: 'set' | 'appended' | 'removed'): void {
    const known = this.#known(name)
    this.#touched.set(name, {
      written,
      present: textsOf(present),
      wasRead: written.pieces.length > 0 && known.wasRead,
      appendsToNothing: how === 'appended',
      wasRemoved: how === 'removed' || known.wasRemoved,
    })
  }
}

/**
 * Fields of one value, and those that the cache itself reads: to append one where there is none is to set it,
 * as a proxy does with all fields.
 */
const SINGLE: ReadonlySet<string> = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'pragma',
  'retry-after',
])

/** A layer outside has made something else of what was set. */
function isAltered({ written, present }: Touched): boolean {
  return listText(linesOfPieces(written.pieces)) !== listText(present)
}

function listText(lines: readonly string[]): string {
  return lines.join().replaceAll(', ', ',')
}

function appendsToNothing({ written, appendsToNothing: before, wasRemoved }: Touched): boolean {
  return before || (written.pieces.length === 0 && !wasRemoved)
}

function keyOf(name: unknown): string | undefined {
  return typeof name === 'string' ? name.toLowerCase() : undefined
}

/** The lines of a value as Node takes it. */
function textsOf(value: unknown): readonly string[] {
  const text = toText(value as Parameters<typeof toText>[0])
  return text === undefined ? [] : [text].flat()
}

function leading(pieces: readonly Piece[], inside: boolean): readonly Piece[] {
  const end = pieces.findIndex((piece) => piece.inside !== inside)
  return end < 0 ? pieces : pieces.slice(0, end)
}

/** Text where it only continues a line, else lines. */
function appendedOf(pieces: readonly Piece[]): string | string[] {
  const lines = linesOfPieces(pieces)
  return lines.length === 1 && pieces[0]?.continues === true ? (lines[0] ?? '') : [...lines]
}

function valueOf(pieces: readonly Piece[]): string | string[] {
  const [line = '', ...more] = linesOfPieces(pieces)
  return more.length === 0 ? line : [line, ...more]
}
