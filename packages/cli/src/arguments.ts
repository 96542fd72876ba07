import { parseArgs } from 'node:util'
import { InvalidOptionError } from '@cattlegrid/core'
import { checkOptions, type OptionRule, type OptionRules, rule } from '@cattlegrid/core/extend'
import type { Command, CommandContext } from './command.ts'
import { CommandError } from './command-error.ts'
import type { Target } from './connection.ts'
import { operandError } from './operands.ts'
import { meantBy } from './other-commands.ts'

const OWNER = 'cattlegrid'
const DEFAULT_URL = 'redis://127.0.0.1:6379'
/** That of stores that name none. */
const DEFAULT_NAMESPACE = 'cattlegrid'
const DEFAULT_TIMEOUT = 5000
/** An hour, ms: long enough to look for the cause, and nobody forgets it for ever. */
const DEFAULT_PAUSE = 3_600_000
/** The longest delay of a Node timer, ms: a longer one would fire at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** A parsed command line. */
export type CommandLine =
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' }
  | (Omit<CommandContext, 'connection' | 'terminal'> & {
      readonly kind: 'run'
      readonly command: Command
      readonly target: Target
    })

const serverRule: OptionRule<string> = {
  accepted:
    "a URL such as 'redis://127.0.0.1:6379' or 'rediss://user:password@host:6380/0', whose user and password are percent-encoded",
  parse(value, path) {
    const text = typeof value === 'string' ? value : ''
    if (/^rediss?:\/\/./.test(text) && URL.canParse(text) && isServer(new URL(text))) return text
    if (isPage(text))
      throw new InvalidOptionError(path?.() ?? 'url', text, `${this.accepted}. The URL of a page takes no key`)
    throw new InvalidOptionError(path?.() ?? 'url', text, this.accepted)
  },
}

const pageRule: OptionRule<string> = {
  accepted: "the URL of a page, such as 'https://shop.example/products/7?size=2'",
  parse(value, path) {
    const text = typeof value === 'string' ? value : ''
    if (!isPage(text)) throw new InvalidOptionError(path?.() ?? 'page', text, this.accepted)
    const { origin, pathname, search } = new URL(text)
    return origin + pathname + search
  },
}

const timeoutRule: OptionRule<number> = {
  ...rule.duration(1, LONGEST_TIMEOUT),
  accepted: "a text such as '500ms', '5s' or '1m', at most 24 days",
}

const pauseRule: OptionRule<number> = {
  ...rule.duration(1000, LONGEST_TIMEOUT),
  accepted: "a text such as '15m' or '6h', 1 second to 24 days",
}

const flagRule: OptionRule<boolean> = {
  accepted: 'no value',
  parse: (value) => (value === true ? value : undefined),
}

const rules = {
  '--url': serverRule,
  '--page': pageRule,
  '--namespace': rule.text('1 to 128 characters without spaces and braces', /^[^{}\s\p{Surrogate}]{1,128}$/u),
  '--timeout': timeoutRule,
  '--json': flagRule,
  '--by': rule.oneOf('load-time', 'followers'),
  '--trace': rule.text('the name of a file', /./),
  '--for': pauseRule,
  '--help': flagRule,
  '--version': flagRule,
} satisfies OptionRules<object>

/** The same for `parseArgs`. */
const syntax = Object.fromEntries(
  Object.entries(rules).map(([name, one]) => {
    const short = name === '--help' ? { short: 'h' } : {}
    return [name.slice(2), { type: one === flagRule ? 'boolean' : 'string', ...short } as const]
  }),
)

/** @throws CommandError that says what is accepted. */
export function readArguments(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  commands: readonly Command[],
): CommandLine {
  const { positionals, given } = split(args)
  const options = checked('Option', given, rules)
  const [name, ...operands] = positionals
  if (options['--version'] === true) return { kind: 'version' }
  const command = name === undefined ? undefined : commandOf(name, commands)
  if (options['--help'] === true) return { kind: 'help', command }
  if (command === undefined) {
    throw usageError(`No command was given; accepted: ${commands.map((one) => one.name).join(', ')}.`)
  }
  const page = options['--page']
  const error = optionError(command, options) ?? operandError(command, operands, page)
  if (error !== undefined) throw usageError(error, command.name)
  const target = {
    url: options['--url'] ?? urlOf(environment),
    namespace: options['--namespace'] ?? DEFAULT_NAMESPACE,
    timeout: options['--timeout'] ?? DEFAULT_TIMEOUT,
  }
  const {
    '--json': json = false,
    '--by': by = 'load-time',
    '--trace': trace,
    '--for': pauseFor = DEFAULT_PAUSE,
  } = options
  return { kind: 'run', command, operands, page, target, json, by, trace, pauseFor: Math.ceil(pauseFor) }
}

function isPage(text: string): boolean {
  return /^https?:\/\/./i.test(text) && URL.canParse(text)
}

/**
 * True for the URL of a server: it has no path but the number of a database, and its credentials can be
 * decoded. A `#` or `@` behind the host is of a password that is not percent-encoded.
 */
function isServer({ pathname, search, hash, username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password)
    return /^\/?\d*$/.test(pathname) && hash === '' && !search.includes('@')
  } catch {
    return false
  }
}

function optionError({ name, takes }: Command, given: Readonly<Record<string, unknown>>): string | undefined {
  const option = (['--by', '--trace', '--for'] as const).find((one) => given[one] !== undefined && one !== takes)
  return option && `'${name}' takes no ${option}.`
}

/** Splits a command line into operands and options; options keep the names that were typed. */
function split(args: readonly string[]): { readonly positionals: string[]; readonly given: Record<string, unknown> } {
  const config = { args: [...args], options: syntax, strict: false, allowPositionals: true, tokens: true } as const
  const { positionals, tokens } = parseArgs(config)
  const given: Record<string, unknown> = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const isKnown = Object.hasOwn(syntax, name)
    const path = isKnown ? `--${name}` : rawName
    const expected = isKnown ? rules[path as keyof typeof rules] : flagRule
    // `--url --json`: the value was forgotten; `--json` is not meant as a value.
    if (expected !== flagRule && (value === undefined || (!inlineValue && value.startsWith('-'))))
      throw usageError(`Option '${path}' needs a value; accepted: ${expected.accepted}.`)
    given[path] = value ?? true
  }
  return { positionals, given: positionals.length > 1 ? given : withPage(given) }
}

/** Without operands, `--url` with the URL of a page means `--page`: no server's URL has its scheme. */
function withPage(given: Record<string, unknown>): Record<string, unknown> {
  const { '--url': url, ...others } = given
  return typeof url === 'string' && isPage(url) ? { '--page': url, ...others } : given
}

function commandOf(name: string, commands: readonly Command[]): Command | undefined {
  const meant = meantBy(name)
  if (meant !== undefined) {
    const accepted = commands.map((one) => one.name).join(', ')
    throw usageError(`Command '${name}' is unknown (did you mean ${meant}?); accepted: ${accepted}.`)
  }
  const known = Object.fromEntries(commands.map((command) => [command.name, flagRule]))
  checked('Command', { [name]: true }, known)
  return commands.find((command) => command.name === name)
}

function urlOf(environment: NodeJS.ProcessEnv): string {
  const url = environment['REDIS_URL']
  if (url === undefined || url === '') return DEFAULT_URL
  return checked('Variable', { REDIS_URL: url }, { REDIS_URL: serverRule }).REDIS_URL ?? DEFAULT_URL
}

/** Calls `checkOptions` and rewords its error for a command line. */
function checked<R extends OptionRules<object>>(
  what: string,
  given: Record<string, unknown>,
  known: R,
): ReturnType<typeof checkOptions<R>> {
  try {
    return checkOptions(OWNER, given, known)
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error
    const rest = error.message.slice(`Option '${error.option}'`.length)
    throw usageError(`${what} '${error.option.slice(OWNER.length + 1)}'${rest}`)
  }
}

function usageError(message: string, command?: string): CommandError {
  const about = command === undefined ? 'cattlegrid' : `cattlegrid ${command}`
  return new CommandError(2, message, `Run ${about} --help. Put a key that begins with a dash after --.`)
}
