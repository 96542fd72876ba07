import { channel } from 'node:diagnostics_channel'

/** A ttl below this that is given as a number is more likely one of seconds, ms. */
export const SHORT_TTL: number = 100

/** The longest number of ms that a window of seconds is mistaken for: an hour is 3600. */
const SHORT_WINDOW = 10_000

/** True for a window that is more likely one of seconds: nobody writes 300 or 3600 for ms. */
export function isShortWindow(milliseconds: number): boolean {
  return milliseconds > 0 && milliseconds < SHORT_WINDOW && milliseconds % 500 !== 0
}

const warnings = channel('cattlegrid:warning')
/** The options that were warned of in this process. */
const warned = new Set<string>()

/**
 * Warns of a number of ms that is likely meant as seconds, once for each option and process. An option is
 * read before anybody can listen to the cache that is made from it, so the warning goes to the diagnostics
 * channel, or else to the process.
 */
export function warnOfShortTtl(value: unknown, option: string | undefined): void {
  if (typeof value !== 'number' || option === undefined || warned.has(option)) return
  warned.add(option)
  const message = `${option}: ${value} means ${value} ms; did you mean '${value}s'? If not, write '${value}ms'.`
  if (warnings.hasSubscribers) warnings.publish({ message })
  else process.emitWarning(message, { type: 'CattlegridWarning', code: 'CATTLEGRID_SHORT_TTL' })
}
