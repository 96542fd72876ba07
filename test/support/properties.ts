import * as fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }
const CODE_POINTS = 0x110000 - SURROGATES.count

const codePoint = fc.integer({ min: 0, max: CODE_POINTS - 1 }).map(characterAt, placeOf)

function characterAt(place: number): string {
  return String.fromCodePoint(place < SURROGATES.first ? place : place + SURROGATES.count)
}

function placeOf(character: unknown): number {
  const point = typeof character === 'string' ? character.codePointAt(0) : undefined
  if (point === undefined || String.fromCodePoint(point) !== character) throw new Error('This is not one character.')
  return point < SURROGATES.first ? point : point - SURROGATES.count
}

/**
 * Text of any characters, and names such as `__proto__`: `fc.string({ unit: 'binary' })`, which would first list the million characters, a second of
 * CPU in each test file.
 */
export function anyText(constraints: fc.StringSharedConstraints = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: codePoint })
}

/** How many cases a property is tried on: `full`, or the share of them that `CATTLEGRID_CASES` names, as where the same code has been tried on all. */
export function cases(full: number): number {
  return Math.ceil(full * Number(process.env['CATTLEGRID_CASES'] ?? 1))
}
