import { inspect } from 'node:util'
import { concealed } from './concealed.ts'
import { kindOf } from './kind-of.ts'

/** The stable name of each error; `docs/errors.md` has a heading for every one. */
export type ErrorCode =
  | 'CATTLEGRID_INVALID_OPTION'
  | 'CATTLEGRID_INVALID_KEY'
  | 'CATTLEGRID_LOAD_FAILED'
  | 'CATTLEGRID_LOAD_TIMEOUT'
  | 'CATTLEGRID_WAIT_TIMEOUT'
  | 'CATTLEGRID_TOO_MANY_WAITERS'
  | 'CATTLEGRID_OVERLOADED'
  | 'CATTLEGRID_STORE_AWAY'
  | 'CATTLEGRID_REENTRANT'
  | 'CATTLEGRID_LEASE_LOST'
  | 'CATTLEGRID_LOSSY_CODEC'
  | 'CATTLEGRID_CLOSED'

const BRAND = Symbol.for('cattlegrid.error')
/** The number of keys of a chain that an error names. */
const LONGEST_CHAIN = 20

/**
 * The base of every error of the library. Its key is the stored one: the digest of a long key.
 * Recognise one with `isCattlegridError`, not `instanceof`: two copies of the package have two classes.
 *
 * @example
 * import { isCattlegridError } from '@cattlegrid/core'
 *
 * await cache.get('report').catch((error: unknown) => {
 *   if (isCattlegridError(error)) console.log(error.code)
 * })
 */
export class CattlegridError extends Error {
  readonly code: ErrorCode

  /** `complete` false: the error has the code of another one without its members. */
  constructor(code: ErrorCode, message: string, cause?: unknown, complete = true) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.name = new.target.name
    Object.defineProperty(this, BRAND, { value: complete })
  }
}

/** The error class of each code. */
export interface ErrorsByCode {
  CATTLEGRID_INVALID_OPTION: InvalidOptionError
  CATTLEGRID_INVALID_KEY: InvalidKeyError
  CATTLEGRID_LOAD_FAILED: LoadFailedError
  CATTLEGRID_LOAD_TIMEOUT: LoadTimeoutError
  CATTLEGRID_WAIT_TIMEOUT: WaitTimeoutError
  CATTLEGRID_TOO_MANY_WAITERS: TooManyWaitersError
  CATTLEGRID_OVERLOADED: OverloadedError
  CATTLEGRID_STORE_AWAY: StoreAwayError
  CATTLEGRID_REENTRANT: ReentrantLoadError
  CATTLEGRID_LEASE_LOST: LeaseLostError
  CATTLEGRID_LOSSY_CODEC: LossyCodecError
  CATTLEGRID_CLOSED: ClosedError
}

/**
 * True for an error of any copy of this library; with `code`, only for one with that code and the members of
 * its class: not for a `ServeError`, which has the code alone.
 *
 * @example
 * import { isCattlegridError } from '@cattlegrid/core'
 *
 * try {
 *   await cache.getOrSet('report', async () => ({ total: 3 }))
 * } catch (error) {
 *   if (isCattlegridError(error, 'CATTLEGRID_LOAD_FAILED')) console.log(`again in ${error.retryAfter} ms`)
 * }
 */
export function isCattlegridError(error: unknown): error is CattlegridError
export function isCattlegridError<C extends ErrorCode>(error: unknown, code: C): error is ErrorsByCode[C]
export function isCattlegridError(error: unknown, code?: ErrorCode): error is CattlegridError {
  if (typeof error !== 'object' || error === null || !(BRAND in error)) return false
  return code === undefined || (error[BRAND] === true && 'code' in error && error.code === code)
}

/** What the message of an InvalidOptionError says beside the option and the accepted values. */
type OptionProblem = { readonly is?: string | undefined; readonly hint?: string | undefined }

/** An option has an invalid value or an unknown name. Nothing was changed. */
export class InvalidOptionError extends CattlegridError {
  /** The option, after the name of what takes it: `createCache.ttl`. */
  readonly option: string
  /** The refused value without its secrets: credentials in a URL, `password` and the like, class objects. */
  readonly value: unknown
  /** The accepted values, in words. */
  readonly accepted: string

  /** `is`: what is wrong, if not the value itself. `hint`: what may be meant, after a space. */
  constructor(option: string, value: unknown, accepted: string, { is, hint = '' }: OptionProblem = {}) {
    const safe = concealed(value)
    const shown = is ?? `is ${kindOf(value) ?? inspect(safe, { depth: 0, breakLength: Infinity, maxStringLength: 80 })}`
    super('CATTLEGRID_INVALID_OPTION', `Option '${option}' ${shown}${hint}; accepted: ${accepted}.`)
    this.option = option
    this.value = safe
    this.accepted = accepted
  }
}

/** A key is not a string, or has more than 65,536 characters. */
export class InvalidKeyError extends CattlegridError {
  constructor(key: unknown, accepted: string) {
    const shown =
      typeof key === 'string' ? `a string of ${key.length} characters` : (kindOf(key) ?? inspect(key, { depth: 0 }))
    super('CATTLEGRID_INVALID_KEY', `The key is ${shown}; accepted: ${accepted}.`)
  }
}

/** The part of a loader's error that other processes receive. */
export interface Failure {
  /** The error's `name`, or the type of what was thrown. */
  readonly name: string
  /** The error's `code`, where it has one. */
  readonly code?: string | undefined
  /** The error's `message`, only with `shareErrorMessages`: messages may hold SQL and host names. */
  readonly message?: string | undefined
}

const LONGEST_TEXT = 256

/**
 * What logs, metrics, traces and other processes may learn of an error: its name and code. A message
 * may quote SQL or a password, and is told only where a user has asked for it.
 *
 * @example
 * import { failureOf } from '@cattlegrid/core/extend'
 *
 * cache.on('load-failed', ({ key, error }) => console.error(key, failureOf(error)))
 */
export function failureOf(error: unknown, withMessage = false): Failure {
  const name = textOf(error, 'name') ?? typeof error
  return { name, code: textOf(error, 'code'), message: withMessage ? textOf(error, 'message') : undefined }
}

/** No `instanceof`: the error may come from another realm. No trust in its getters: they may throw. */
function textOf(error: unknown, field: keyof Failure): string | undefined {
  try {
    const value = (error as Readonly<Record<string, unknown>> | null | undefined)?.[field]
    return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, LONGEST_TEXT) : undefined
  } catch {
    return undefined
  }
}

/** The name and the code of a failure, in one line. */
export function failureName({ name, code }: Failure): string {
  return code === undefined ? name : `${name} ${code}`
}

/** The last load of the key failed, in any process. No process loads it until `retryAfter` has passed. */
export class LoadFailedError extends CattlegridError {
  readonly key: string
  /** The number of loads in a row that failed. */
  readonly attempts: number
  /** The rest of the cooldown at the moment of the error, ms: then a load may run again. */
  readonly retryAfter: number
  /** The error of the last load, without what may not leave its process. */
  override readonly cause: Failure

  constructor(key: string, attempts: number, retryAfter: number, failure: Failure) {
    const detail = failure.message === undefined ? '' : `: ${failure.message}`
    const message = `The load of '${key}' failed (${failureName(failure)}${detail}, attempt ${attempts}); the next may run in ${Math.ceil(retryAfter)} ms.`
    super('CATTLEGRID_LOAD_FAILED', message)
    this.key = key
    this.attempts = attempts
    this.retryAfter = retryAfter
    this.cause = failure
  }
}

/** A load did not end within `loadTimeout`. It was aborted, its lease released, and its key cools down. */
export class LoadTimeoutError extends CattlegridError {
  constructor(key: string, timeout: number) {
    super(
      'CATTLEGRID_LOAD_TIMEOUT',
      `The load of '${key}' did not end within ${timeout} ms. Pass load.signal to what the loader calls, or raise loadTimeout.`,
    )
  }
}

/** A call waited for other loads for its whole `waitTimeout`, and no stale value may be served. */
export class WaitTimeoutError extends CattlegridError {
  constructor(key: string, timeout: number) {
    super(
      'CATTLEGRID_WAIT_TIMEOUT',
      `No value of '${key}' arrived within ${timeout} ms. Raise waitTimeout above what a load takes, or allow a stale value (staleIfError).`,
    )
  }
}

/** `maxWaiters` or `maxWaitersPerKey` calls wait already, and no stale value may be served. */
export class TooManyWaitersError extends CattlegridError {
  constructor(key: string) {
    super(
      'CATTLEGRID_TOO_MANY_WAITERS',
      `Too many calls wait for a load (this one for '${key}'). Retry later, or raise maxWaiters and maxWaitersPerKey.`,
    )
  }
}

/** With `maxLoads: 'auto'`: no load could begin within `waitTimeout`. One could in `retryAfter` ms. */
export class OverloadedError extends CattlegridError {
  readonly retryAfter: number
  constructor(key: string, retryAfter: number) {
    super(
      'CATTLEGRID_OVERLOADED',
      `The source is overloaded: a load of '${key}' could begin in ${Math.ceil(retryAfter)} ms, which is more than is left of waitTimeout. Retry later, or allow a stale value (staleIfError).`,
    )
    this.retryAfter = retryAfter
  }
}

const NOT_SENT_BECAUSE: Readonly<Record<string, string>> = {
  breaker: 'the store has stopped answering',
  disconnected: 'the store is not connected',
  busy: 'too many other steps were sent before it',
}

/** The call that a step of the store belongs to, where it has another name. */
const CALL_OF: Readonly<Record<string, string>> = {
  tags: 'invalidateTags',
  'expire-tags': 'expireTags',
  ping: 'ready',
}

/** The store did not answer a write or an invalidation: retry. Reads and loads never reject with it. */
export class StoreAwayError extends CattlegridError {
  /** True: the store may have executed the step, although it did not answer. False: the step was not sent. */
  readonly maybeApplied: boolean

  constructor(step: string, key: string, { why, cause }: { readonly why: string; readonly cause: unknown }) {
    const notSentBecause = NOT_SENT_BECAUSE[why]
    const call = `${CALL_OF[step] ?? step}(${key === '*' ? '' : `'${key}'`})`
    const { code } = failureOf(cause)
    const reason = code === undefined ? '' : ` (${code})`
    const problem =
      notSentBecause === undefined
        ? `The store did not answer ${call}${step === 'ping' ? '' : '; whether it was applied is unknown'}.`
        : `${call} was not sent, because ${notSentBecause}${reason}.`
    super('CATTLEGRID_STORE_AWAY', `${problem} Retrying is safe.`, cause)
    this.maybeApplied = notSentBecause === undefined
  }
}

/** A loader asked for the key that it loads, directly or through other loaders: the wait would never end. */
export class ReentrantLoadError extends CattlegridError {
  constructor(chain: readonly string[]) {
    super(
      'CATTLEGRID_REENTRANT',
      `A loader asks for a key that it is loading: ${shortened(chain).join(' → ')}. Give the inner call another key.`,
    )
  }
}

/** A recursion may be thousands of keys deep, and each of its calls may get the error. */
function shortened(chain: readonly string[]): readonly string[] {
  const left = chain.length - LONGEST_CHAIN
  if (left <= 1) return chain
  return [...chain.slice(0, LONGEST_CHAIN / 2), `(${left} more)`, ...chain.slice(-LONGEST_CHAIN / 2)]
}

/** The reason of `load.signal` when the lease was lost and no caller waits for the load. */
export class LeaseLostError extends CattlegridError {
  constructor(key: string) {
    super(
      'CATTLEGRID_LEASE_LOST',
      `The lease of '${key}' was lost and no caller waits for its load, so its result would be dropped.`,
    )
  }
}

/** With `strictCodec`: the codec would change the value, which is therefore not stored. */
export class LossyCodecError extends CattlegridError {
  constructor(key: string, codecId: number, loss: string) {
    const [name, cure] = CURES[codecId] ?? [`with id ${codecId}`, 'Store what it keeps, or use another codec']
    super('CATTLEGRID_LOSSY_CODEC', `The codec ${name} does not keep the value of '${key}': ${loss}. ${cure}.`)
  }
}

/** The built-in codecs, by id. */
const CURES: Readonly<Record<number, readonly [name: string, cure: string]>> = {
  1: ['json', 'Use `codec: structured`, which keeps Date, Map, Set, BigInt and bytes, or store plain data'],
  2: ['structured', 'Store data without functions and without methods of a class, or use a codec of your own'],
  3: ['raw', 'Use `codec: json` or `codec: structured` for values other than bytes'],
}

/** The cache is closed, or was closed while the call waited. */
export class ClosedError extends CattlegridError {
  constructor() {
    super('CATTLEGRID_CLOSED', 'The cache is closed; create a new one with createCache().')
  }
}
