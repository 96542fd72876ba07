import type { CacheEvent, EventName } from '@cattlegrid/core'
import type { Logger } from './options.ts'

/** What is written of an event. */
export interface LogLine {
  readonly level: keyof Logger
  readonly message: string
  /**
   * Fields with few values: with the event they are the kind of the line, of which one is written at a time.
   */
  readonly about?: Readonly<Record<string, string | undefined>>
  readonly more?: object
  readonly error?: unknown
}

/** The events that a person should see. Those that are missing here are steps of normal operation. */
export const logLines: { readonly [E in EventName]?: (event: CacheEvent<E>) => LogLine } = {
  violation: ({ what }) => ({
    level: 'error',
    message: 'The store broke its contract: it stored the value of a lease that it had refused to renew.',
    about: { what },
  }),
  breaker: ({ state, node, error }) =>
    state === 'open'
      ? { level: 'warn', message: 'The store is away: no step is sent to it.', about: { state, node }, error }
      : { level: 'info', message: 'The store answers again.', about: { state, node } },
  notices: ({ state, node }) =>
    state === 'disconnected'
      ? {
          level: 'warn',
          message: 'Notices of the store may be lost: near copies are not trusted.',
          about: { state, node },
        }
      : { level: 'info', message: 'Notices of the store arrive again.', about: { state, node } },
  away: ({ step, error }) => ({
    level: 'warn',
    message: 'The store did not answer a step in time.',
    about: { step },
    error,
  }),
  unreadable: ({ why, error }) => ({
    level: 'warn',
    message: 'The bytes at a key of the store are no entry that this cache can read: the call went on as for a miss.',
    about: { reason: why },
    error,
  }),
  'load-failed': ({ error, cooldown }) => ({
    level: 'warn',
    message: 'A load failed: its key cools down.',
    more: { cooldown },
    error,
  }),
  'lease-lost': ({ why }) => ({
    level: 'warn',
    message: 'A lease was lost while its load ran: the value will not be stored.',
    about: { reason: why },
  }),
  refused: ({ why }) => ({
    level: 'warn',
    message: 'The store refused a value, because its lease was lost or voided.',
    about: { reason: why },
  }),
  'wait-timeout': ({ waited }) => ({
    level: 'warn',
    message: 'A call reached its waitTimeout before there was a value.',
    more: { waited },
  }),
  'encode-failed': ({ error }) => ({
    level: 'error',
    message: 'A value could not be encoded: it is not stored.',
    error,
  }),
  'too-large': ({ error }) => ({
    level: 'warn',
    message: 'A value is too large: it is not stored.',
    error,
  }),
  'observer-failed': ({ event, error }) => ({
    level: 'error',
    message: 'A listener of an event failed. No call failed because of it.',
    about: { event },
    error,
  }),
  close: ({ abandoned }) => ({ level: 'info', message: 'The cache was closed.', more: { abandoned } }),
}
