/** The directives of `Cache-Control`: lower-case name → argument, unquoted; the empty text where there is none. */
export type Directives = ReadonlyMap<string, string>

/** RFC 9111 section 1.2.2: a number too large to keep is taken as this. */
const LONGEST = 2 ** 31

/**
 * Parses the lines of a `Cache-Control` field (RFC 9111 section 5.2). Total: whatever cannot be read is kept as a name that nobody asks for.
 * Of a directive that is given twice the first counts. In a member that is none of the grammar's, such as `private; x`, every word counts as
 * a directive without an argument: a prohibition is heard, and a lifetime is one that cannot be read.
 */
export function parseCacheControl(lines: readonly string[]): Directives {
  const directives = new Map<string, string>()
  const add = (name: string, argument: string): void => {
    if (name !== '' && !directives.has(name)) directives.set(name, argument)
  }
  for (const member of lines.flatMap(splitMembers)) {
    const text = member.trim()
    const equals = text.indexOf('=')
    const name = (equals < 0 ? text : text.slice(0, equals)).trim().toLowerCase()
    add(name, equals < 0 ? '' : unquote(text.slice(equals + 1)))
    if (!isDirective(text)) for (const word of text.toLowerCase().split(NO_TOKEN)) add(word, '')
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
 * The seconds that a directive gives: undefined where it is absent, 0 where its argument is no plain number (RFC 9111 section 4.2.1: then
 * the response is stale).
 */
export function secondsOf(directives: Directives, name: string): number | undefined {
  const argument = directives.get(name)
  return argument === undefined ? undefined : (parseSeconds(argument) ?? 0)
}

/** `delta-seconds`: digits only, capped; undefined for anything else. */
export function parseSeconds(text: string): number | undefined {
  return /^\d+$/.test(text) ? Math.min(Number(text), LONGEST) : undefined
}

/** Splits at the commas outside quotes. Behind a quote that nobody closes all is one member, and none of the grammar's. */
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
