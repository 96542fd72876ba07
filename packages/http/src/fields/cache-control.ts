/** The directives of `Cache-Control`: lower-case name → unquoted argument; empty where there is none. */
export type Directives = ReadonlyMap<string, string>

/** A greater number of seconds counts as this one (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2 ** 31

/**
 * Parses the lines of a `Cache-Control` field (RFC 9111 section 5.2); never throws. Of a repeated directive
 * the first counts. In a member outside the grammar, such as `private; x`, each word counts as a directive
 * without an argument: prohibitions hold, and lifetimes are invalid.
 */
export function parseCacheControl(lines: readonly string[]): Directives {
  if (lines.length > 1) return parseLines(lines)
  const [line = ''] = lines
  if (line !== last.line) last = { line, directives: parseLines(lines) }
  return last.directives
}

/**
 * An app sends few different fields, and the field of one response is parsed for each layer that may
 * forbid storing.
 */
let last: { readonly line: string; readonly directives: Directives } = { line: '', directives: new Map() }

function parseLines(lines: readonly string[]): Directives {
  const directives = new Map<string, string>()
  const add = (name: string, argument: string): void => {
    if (name !== '' && !directives.has(name)) directives.set(name, argument)
  }
  for (const member of lines.flatMap(splitMembers)) {
    const text = member.trim()
    const equals = text.indexOf('=')
    const name = (equals < 0 ? text : text.slice(0, equals)).trim().toLowerCase()
    add(name, equals < 0 ? '' : unquote(text.slice(equals + 1)))
    if (!isDirective(text)) for (const token of text.toLowerCase().split(NO_TOKEN)) add(token, '')
  }
  return directives
}

const NO_TOKEN = /[^\w!#$%&'*+.^`|~-]+/
const TOKEN = String.raw`[\w!#$%&'*+.^\x60|~-]+`
const DIRECTIVE = new RegExp(String.raw`^${TOKEN}(?:\s*=\s*(?:${TOKEN}|"(?:[^"\\]|\\.)*"))?$`)

function isDirective(text: string): boolean {
  return DIRECTIVE.test(text)
}

/**
 * The seconds of a directive: undefined where it is absent; 0 where its argument is invalid, so that the
 * response is stale (RFC 9111 section 4.2.1).
 */
export function secondsOf(directives: Directives, name: string): number | undefined {
  const argument = directives.get(name)
  return argument === undefined ? undefined : (parseSeconds(argument) ?? 0)
}

/** `delta-seconds`: digits only, capped; undefined for anything else. */
export function parseSeconds(text: string): number | undefined {
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_SECONDS) : undefined
}

/**
 * Splits at the commas outside quotes. After a quote without an end, the rest of the line is part of
 * the member.
 */
function splitMembers(line: string): readonly string[] {
  const members: string[] = []
  let start = 0
  let position = 0
  while (position < line.length) {
    const character = line[position]
    if (character === '"') {
      const close = closingQuote(line, position)
      if (close < 0) return [...members, line.slice(start)]
      position = close
    } else if (character === ',') {
      members.push(line.slice(start, position))
      start = position + 1
    }
    position += 1
  }
  return [...members, line.slice(start)]
}

function closingQuote(line: string, open: number): number {
  for (let position = open + 1; position < line.length; position += 1) {
    if (line[position] === '\\') position += 1
    else if (line[position] === '"') return position
  }
  return -1
}

function unquote(argument: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(argument)
  return quoted === null ? argument : (quoted[1] ?? '').replaceAll(/\\(.)/g, '$1')
}
