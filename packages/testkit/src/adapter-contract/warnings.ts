import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** A warning of the process, as `process.emitWarning` was given it. */
export interface ProcessWarning {
  readonly code: string | undefined
  readonly message: string
}

/**
 * Runs `play` and returns the warnings with this code that the process was given meanwhile.
 * `process.on('warning')` is not used: a runner such as Jest gives its tests a copy of `process`, which does
 * not emit it.
 *
 * @example
 * import { warningsDuring } from '@cattlegrid/testkit'
 *
 * const warnings = await warningsDuring('CATTLEGRID_AUDIT', () => fetch('http://127.0.0.1:3000/'))
 */
export async function warningsDuring(code: string, play: () => unknown): Promise<readonly ProcessWarning[]> {
  const warnings: ProcessWarning[] = []
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...options: readonly unknown[]): void => {
    warnings.push(warningOf(warning, options))
  }
  try {
    await play()
  } finally {
    process.emitWarning = emitWarning
  }
  return warnings.filter((warning) => warning.code === code)
}

/** `emitWarning(warning, { code })`, `emitWarning(warning, type, code)`, or an error with a code. */
function warningOf(warning: string | Error, options: readonly unknown[]): ProcessWarning {
  const [first, second] = options
  const named = (typeof first === 'object' && first !== null ? first : warning) as { readonly code?: unknown }
  const code = typeof second === 'string' ? second : named.code
  return {
    code: typeof code === 'string' ? code : undefined,
    message: typeof warning === 'string' ? warning : warning.message,
  }
}

/**
 * Runs `play` and returns what was published to this channel of `node:diagnostics_channel` meanwhile.
 *
 * @example
 * import { eventsDuring } from '@cattlegrid/testkit'
 *
 * const events = await eventsDuring('cattlegrid:audit', () => fetch('http://127.0.0.1:3000/'))
 */
export async function eventsDuring(channel: string, play: () => unknown): Promise<readonly object[]> {
  const events: object[] = []
  const listen = (event: unknown): void => void events.push(event as object)
  subscribe(channel, listen)
  try {
    await play()
  } finally {
    unsubscribe(channel, listen)
  }
  return events
}
