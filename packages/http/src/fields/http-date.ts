const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)'
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
const FORMS = [
  new RegExp(String.raw`^${DAY}, (?<day>\d\d) (?<month>[a-z]{3}) (?<year>\d{4}) ${TIME} gmt$`, 'i'),
  new RegExp(String.raw`^${DAY}[a-z]{3,6}, (?<day>\d\d)-(?<month>[a-z]{3})-(?<year>\d\d) ${TIME} gmt$`, 'i'),
  new RegExp(String.raw`^${DAY} (?<month>[a-z]{3}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`, 'i'),
]

/**
 * Parses an HTTP-date in any of its three forms (RFC 9110 section 5.6.7) to ms since 1970; undefined for
 * anything else.
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups
    if (parts !== undefined) return momentOf(parts, now)
  }
  return undefined
}

function momentOf(parts: Readonly<Record<string, string | undefined>>, now: number): number | undefined {
  const number = (name: string): number => Number(parts[name])
  const month = MONTHS.indexOf((parts['month'] ?? '').toLowerCase())
  const [day, hour, minute, second] = [number('day'), number('hour'), number('minute'), number('second')]
  if (month < 0 || hour > 23 || minute > 59 || second > 60) return undefined
  const time = Date.UTC(fullYear(parts['year'] ?? '', now), month, day, hour, minute, second)
  return new Date(time - second * 1000).getUTCDate() === day ? time : undefined
}

/** A two-digit year that seems more than 50 years ahead is in the past (RFC 9110 section 5.6.7). */
function fullYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits)
  const present = new Date(now).getUTCFullYear()
  const year = present - (present % 100) + Number(digits)
  return year > present + 50 ? year - 100 : year
}

let lastSecond = Number.NaN
let lastText = ''

/**
 * Formats `Date` (IMF-fixdate). Keeps the last text: most calls fall in the same second as the one before.
 */
export function formatHttpDate(time: number): string {
  const second = Math.floor(time / 1000)
  if (second !== lastSecond) {
    lastText = new Date(time).toUTCString()
    lastSecond = second
  }
  return lastText
}
