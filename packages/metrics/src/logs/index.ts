import type { Cache, CacheEvent, EventName } from '@cattlegrid/core'
import { failureOf, checkOptions, checkValue, type OptionRules, rule } from '@cattlegrid/core/extend'
import { requireCache } from '../observed-cache.ts'
import { type LogLine, logLines } from './log-lines.ts'
import type { Logger, LogOptions } from './options.ts'
import { RateLimit } from './rate-limit.ts'

export type { Logger, LogOptions } from './options.ts'

const rules = { every: rule.duration(0), keys: rule.boolean, errors: rule.boolean } satisfies OptionRules<LogOptions>
const loggerRule = rule.object<Logger>('a logger with info, warn and error', 'info', 'warn', 'error')

const DEFAULT_EVERY = 10_000

/**
 * Writes a line for each event of a cache that a person should see: the store is away or answers again, a
 * load failed, a lease was lost, a value is not stored. Each line has `cache`, the cache's `name`, and
 * `event`. Warnings of the cache, which otherwise go to the process, are written, too.
 *
 * @returns a function that stops it.
 * @throws InvalidOptionError for an option that is unknown or has an invalid value; for a logger without
 * `info`, `warn` and `error`.
 * @example
 * import { logEvents } from '@cattlegrid/metrics/logs'
 * import { pino } from 'pino'
 *
 * const stop = logEvents(cache, pino())
 */
export function logEvents(cache: Cache, logger: Logger, options?: LogOptions): () => void {
  requireCache('logEvents', cache)
  const { every = DEFAULT_EVERY, keys = false, errors = false } = checkOptions('logEvents', options, rules)
  checkValue('logEvents.logger', logger, loggerRule)
  const limit = new RateLimit(every)
  const write = (event: CacheEvent, { level, message, about = {}, more, error }: LogLine): void => {
    const kind = [event.type, ...Object.values(about)].join('\n')
    const suppressed = limit.admit(kind, cache.runtime.elapsed())
    if (suppressed === undefined) return
    const key = keys && 'key' in event ? { key: event.key } : {}
    const failure = error === undefined ? {} : errors ? { err: error } : { error: toldOf(error) }
    const count = suppressed > 0 ? { suppressed } : {}
    logger[level]({ cache: event.cache, event: event.type, ...key, ...about, ...more, ...failure, ...count }, message)
  }
  const stops = Object.entries(logLines).map(([name, lineOf]) =>
    cache.on(name as EventName, (event) => write(event, lineOf(event as never))),
  )
  // Each is emitted once for its cause.
  stops.push(cache.on('warning', (event) => logger.warn({ cache: event.cache, event: 'warning' }, event.message)))
  return () => {
    for (const stop of stops.splice(0)) stop()
  }
}

/** The causes of an error that are told. */
const MOST_CAUSES = 3

/** The error that a line has, and those that caused it, outermost first. */
function toldOf(error: unknown): object {
  const causes: object[] = []
  for (let cause = causeOf(error); cause !== undefined && causes.length < MOST_CAUSES; cause = causeOf(cause))
    causes.push(failureFields(cause))
  return { ...failureFields(error), ...(causes.length > 0 ? { causes } : {}) }
}

/** No member that is undefined: loggers may print it. */
function failureFields(error: unknown): object {
  const { name, code } = failureOf(error)
  return code === undefined ? { name } : { name, code }
}

function causeOf(error: unknown): unknown {
  try {
    return (error as { readonly cause?: unknown } | null)?.cause
  } catch {
    return undefined
  }
}
