import type { ApplicationPackages } from './caller.ts'

/**
 * Properties of a request by which middleware tells handlers about its client: those of passport, OpenID
 * Connect, sessions and cookie parsers.
 */
export const PERSONAL_PROPERTIES = [
  'user',
  'account',
  'auth',
  'oidc',
  'session',
  'sessionID',
  'cookies',
  'signedCookies',
] as const
/**
 * Request fields by which gateways and applications identify a client. A response that varies by one of them
 * says so itself, by `Vary`.
 */
export const CLIENT_FIELDS = [
  'proxy-authorization',
  'x-api-key',
  'x-auth-token',
  'x-access-token',
  'x-session-id',
  'x-user',
  'x-user-id',
  'x-remote-user',
  'x-forwarded-user',
  'x-forwarded-email',
  'x-auth-request-user',
  'x-auth-request-email',
  'x-account-id',
  'x-customer-id',
  'x-tenant',
  'x-tenant-id',
  'x-org-id',
  'x-organization-id',
] as const
/** Request fields that identify a client. */
export const PERSONAL_FIELDS: readonly string[] = ['cookie', 'authorization', ...CLIENT_FIELDS]
/** The names of `allowReads`. */
export const PERSONAL_NAMES: readonly string[] = [...PERSONAL_PROPERTIES, ...PERSONAL_FIELDS]

/** Which reads of a route's handlers show that a response depends on its client. */
export interface PersonalReadRule {
  readonly allowed: readonly string[]
  readonly keyedCookies: readonly string[]
  /** The request fields in the key, in lower case. */
  readonly keyedFields: readonly string[]
  /** True if the key or an option takes care of a request's credentials. */
  readonly ownsCredentials: boolean
  /** True if reads of the fields `Cookie` and `Authorization` count. */
  readonly watchesFields: boolean
  /** More fields whose reads count, in lower case. Default: none. */
  readonly moreFields?: readonly string[] | undefined
  /** True if a list of all fields counts as a read of `Cookie`, also where there is none. Default: false. */
  readonly listsCookie?: boolean | undefined
  readonly application: Pick<ApplicationPackages, 'includes'>
}

/** A read that shows that the response depends on its client. */
export interface PersonalRead {
  /** The name for `allowReads`. */
  readonly name: string
  /** As in the code: `req.user`, `headers.cookie`. */
  readonly expression: string
  /** Where in the code. */
  readonly position: string
}

/**
 * The reads by which a handler learns who its client is, from the start of the handler to the end of its
 * response. Those of outer layers do not count.
 */
export interface ClientReads {
  /** The first read that counts; undefined: none so far. */
  readonly found: PersonalRead | undefined
  /** The response varies by these request fields, in lower case: reads of them count no more. */
  selectedBy(names: readonly string[]): void
  /** Runs a call of an outer layer. */
  outside<T>(call: () => T): T
  /** Until `resume`, only outer layers run. */
  pause(): void
  resume(): void
  stop(): void
}

/**
 * True for a `Cookie` field whose every cookie is in the key; false if the key holds no cookies.
 *
 * @example
 * import { hasOnlyKeyedCookies } from '@cattlegrid/http/binding'
 *
 * const isKeyed = hasOnlyKeyedCookies('theme=dark', ['theme'])
 */
export function hasOnlyKeyedCookies(value: unknown, keyed: readonly string[]): boolean {
  if (keyed.length === 0) return false
  // `headersDistinct` has a list.
  const field = Array.isArray(value) ? value.join(';') : value
  return typeof field !== 'string' || field.split(';').every((pair) => keyed.includes(pair.split('=')[0]?.trim() ?? ''))
}
