import { parse } from '@lukeed/ms'
import { InvalidOptionError } from '../errors.ts'

/**
 * A length of time. A number is milliseconds: `30` means 30 ms. A text is a number with its unit, such as
 * `'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'1d'`.
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

/** An amount of memory: a number is bytes; in a text `kb`, `mb` and `gb` are 1024, 1024² and 1024³ bytes. */
export type ByteSize = number | `${number}${'b' | 'kb' | 'mb' | 'gb'}`

const DURATION = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/
const BYTE_SIZE = /^(\d+(?:\.\d+)?)(b|kb|mb|gb)$/
const BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/** The accepted forms of a duration, for error messages. */
export const DURATION_FORM = "milliseconds as a number, or a text such as '250ms', '30s', '5m', '2h', '1d'"
/** The accepted forms of a size, for error messages. */
export const BYTE_SIZE_FORM = "bytes as a number, or a text such as '512b', '64kb', '16mb', '1gb'"

/** Parsed texts: a program has few, and parses them with every call. Full, it keeps what it has. */
const parsedTexts = new Map<string, number>()
const MOST_TEXTS = 1000

/** The milliseconds of a duration, or NaN when `value` is not one. */
export function parseDuration(value: unknown): number {
  if (typeof value === 'number') return value >= 0 ? value : Number.NaN
  if (typeof value !== 'string') return Number.NaN
  let milliseconds = parsedTexts.get(value)
  if (milliseconds === undefined) {
    milliseconds = readDuration(value)
    if (parsedTexts.size < MOST_TEXTS) parsedTexts.set(value, milliseconds)
  }
  return milliseconds
}

function readDuration(value: string): number {
  if (!DURATION.test(value)) return Number.NaN
  // The library does not parse zero.
  return Number.parseFloat(value) === 0 ? 0 : (parse(value) ?? Number.NaN)
}

/** The bytes of a size, or NaN when `value` is not one. */
export function parseByteSize(value: unknown): number {
  if (typeof value === 'number') return value >= 0 ? Math.round(value) : Number.NaN
  const match = typeof value === 'string' ? BYTE_SIZE.exec(value) : null
  return match === null ? Number.NaN : Math.round(Number(match[1]) * (BYTES[match[2] ?? ''] ?? Number.NaN))
}

/**
 * Turns a setting, for example an environment variable, into milliseconds.
 *
 * @example
 * import { duration } from '@cattlegrid/core'
 *
 * console.log(duration('5m')) // 300000
 * @throws InvalidOptionError when `text` is not a number with a unit.
 */
export function duration(text: string): number {
  const milliseconds = typeof text === 'string' ? parseDuration(text) : Number.NaN
  if (!Number.isFinite(milliseconds))
    throw new InvalidOptionError('duration', text, "a text such as '250ms', '30s', '5m', '2h', '1d'")
  return milliseconds
}
