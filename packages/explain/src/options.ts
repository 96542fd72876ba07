import { type Duration, duration, InvalidOptionError } from '@cattlegrid/core'

/** Options of `explain`. */
export interface ExplainOptions {
  /** The number of recent events that this process keeps. 0 to 1,000,000. Default: 1,000. */
  readonly history?: number | undefined
  /**
   * The number of keys that are counted by load time, and by followers. A weight is too high by at most the
   * total divided by this number. 0 to 10,000. Default: 100.
   */
  readonly hotKeys?: number | undefined
  /**
   * True: `hotKeys` shows keys as they are. False: by a digest, because a key may hold a name or an address.
   * Default: false.
   */
  readonly plainKeys?: boolean | undefined
  /**
   * Gives the message of an error, beside its name and code, to processes that ask. Messages may hold SQL and
   * host names. Default: false.
   */
  readonly shareErrorMessages?: boolean | undefined
}

/** Options of a question to all processes. */
export interface AskOptions {
  /** The longest time that the other processes have to answer. Default: `'500ms'`. */
  readonly timeout?: Duration | undefined
}

/** The value of each option. */
export type Settings = { readonly [O in keyof ExplainOptions]-?: NonNullable<ExplainOptions[O]> }

/** The accepted values of an option, in words and as a test. */
interface Rule {
  readonly accepted: string
  readonly fits: (value: unknown) => boolean
}

const count = (most: number): Rule => ({
  accepted: `an integer from 0 to ${most}`,
  fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most,
})
const boolean: Rule = { accepted: 'true or false', fits: (value) => typeof value === 'boolean' }
const LONGEST_TIMEOUT = 2 ** 47
const time: Rule = {
  accepted: `milliseconds as a number, or a text such as '250ms', '30s', '5m'; from 0 to ${LONGEST_TIMEOUT} ms`,
  fits: (value) => milliseconds(value) >= 0 && milliseconds(value) <= LONGEST_TIMEOUT,
}

const explainRules: { readonly [O in keyof ExplainOptions]-?: Rule } = {
  history: count(1_000_000),
  hotKeys: count(10_000),
  plainKeys: boolean,
  shareErrorMessages: boolean,
}
const askRules: { readonly [O in keyof AskOptions]-?: Rule } = { timeout: time }

/** @throws InvalidOptionError for an option that is unknown or has an invalid value. */
export function settingsOf(options: ExplainOptions = {}): Settings {
  checkOptions('explain', options, explainRules)
  const { history = 1000, hotKeys = 100, plainKeys = false, shareErrorMessages = false } = options
  return { history, hotKeys, plainKeys, shareErrorMessages }
}

/** The time that other processes have to answer, ms. @throws InvalidOptionError as `settingsOf`. */
export function timeoutOf(verb: 'explain' | 'hotKeys', options: AskOptions = {}): number {
  checkOptions(`diagnosis.${verb}`, options, askRules)
  return milliseconds(options.timeout ?? 500)
}

function checkOptions(owner: string, options: object, rules: Readonly<Record<string, Rule>>): void {
  const names = Object.keys(rules).join(', ')
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new InvalidOptionError(owner, options, `a plain object with options: ${names}`)
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined) throw new InvalidOptionError(`${owner}.${name}`, value, names, { is: 'is unknown' })
    if (value !== undefined && !rule.fits(value)) throw new InvalidOptionError(`${owner}.${name}`, value, rule.accepted)
  }
}

/** NaN for what is no duration. */
function milliseconds(value: unknown): number {
  if (typeof value !== 'string') return typeof value === 'number' ? value : Number.NaN
  try {
    return duration(value)
  } catch {
    return Number.NaN
  }
}
