/** The names of members that hold a secret. */
const SECRET = /pass(?:word|phrase|wd)|^pass$|secret|token|credential|^auth|api_?key|private_?key|cookie/i
/** The scheme of a text that may be a URL. */
const SCHEME = /^\s*[a-z][a-z\d+.-]*:\/\//i
/** A user and a password before a host, in a text without a scheme. */
const CREDENTIALS = /^\S*:\S*@/s
const HIDDEN = '***'
/** An object below this depth is hidden whole. */
const MAX_DEPTH = 4

/**
 * A value as an error or a warning may show it: credentials in URLs, members named like secrets, and objects
 * of classes, which may hold either, are hidden. Returns the value itself where nothing is hidden.
 */
export function concealed(value: unknown): unknown {
  try {
    return concealedFrom(value, 0)
  } catch {
    // A getter or a proxy that throws.
    return HIDDEN
  }
}

function concealedFrom(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return concealedText(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof URL) return concealedText(value.href)
  if (Array.isArray(value)) return concealedMembers(value, depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  // Of any realm: the prototype of a plain object has none itself.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return concealedMembers(value, depth)
  const isCollection = value instanceof Set || value instanceof Map
  if (isCollection && [...value].every((member) => concealedFrom(member, depth + 1) === member)) return value
  const isEmpty = Object.keys(value).length === 0 && !(Symbol.iterator in value)
  return isEmpty ? value : `[object ${nameOf(value)}]`
}

/**
 * A text without the credentials, the query and the fragment of the URL in it, also if the URL is malformed:
 * `#` and `/` in a password that is not percent-encoded end the part before the host early.
 */
function concealedText(text: string): string {
  const [scheme] = SCHEME.exec(text) ?? []
  if (scheme === undefined) return text.replace(CREDENTIALS, `${HIDDEN}@`)
  const rest = text.slice(scheme.length)
  const end = rest.lastIndexOf('@')
  if (end >= 0) return `${scheme}${HIDDEN}@${rest.slice(end + 1).replace(/[?#].*$/s, '')}`
  if (!URL.canParse(text)) return scheme + HIDDEN
  return scheme + rest.replace(/([?#]).*$/s, `$1${HIDDEN}`)
}

function concealedMembers(value: object, depth: number): unknown {
  if (depth === MAX_DEPTH) return HIDDEN
  let isChanged = false
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => {
    const isSecret = SECRET.test(name) && member !== undefined && typeof member !== 'function'
    const shown = isSecret ? HIDDEN : concealedFrom(member, depth + 1)
    if (!Object.is(shown, member)) isChanged = true
    return [name, shown] as const
  })
  if (!isChanged) return value
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
}

function nameOf(value: object): string {
  const { constructor } = value as { readonly constructor?: unknown }
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'Object'
}
