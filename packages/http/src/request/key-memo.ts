import { type KeyParts, requestKey } from './request-key.ts'

/** The limits of each of the two generations. */
const MAX_KEYS = 1000
const MAX_CHARACTERS = 131_072

/**
 * Remembers the keys of recent requests by their parts: making a key costs more than the rest of a hit.
 * Bounded in number and in characters. Two generations instead of an LRU, which would move an entry on every
 * hit: a key that is used stays, the others go with their generation.
 */
export class KeyMemo {
  #recent = new Map<string, string>()
  #older: ReadonlyMap<string, string> = new Map()
  #characters = 0

  /** Returns the same as `requestKey`. */
  keyOf(parts: KeyParts): string | undefined {
    const text = memoText(parts)
    return this.#recent.get(text) ?? this.#remember(text, parts)
  }

  /** The keys and characters that the memo holds. */
  get size(): { readonly keys: number; readonly characters: number } {
    const texts = [...this.#recent.keys(), ...this.#older.keys()]
    return { keys: texts.length, characters: texts.reduce((sum, text) => sum + text.length, 0) }
  }

  #remember(text: string, parts: KeyParts): string | undefined {
    const key = this.#older.get(text) ?? requestKey(parts)
    if (key === undefined || text.length > MAX_CHARACTERS) return key
    if (this.#recent.size >= MAX_KEYS || this.#characters + text.length > MAX_CHARACTERS) {
      this.#older = this.#recent
      this.#recent = new Map()
      this.#characters = 0
    }
    this.#recent.set(text, key)
    this.#characters += text.length
    return key
  }
}

/**
 * All parts of a key, each with its length, so that no part can forge a delimiter; an absent part differs
 * from an empty one.
 */
function memoText({ scheme, host, target, routed, matched, place, decodesPath, extra = [] }: KeyParts): string {
  let text = decodesPath ? 'd' : 'r'
  text += lengthPrefixed(scheme) + lengthPrefixed(host) + lengthPrefixed(target) + lengthPrefixed(place)
  text += routed === target ? '=' : lengthPrefixed(routed)
  if (matched !== undefined) {
    const { pattern, base } = matched
    text += `m${lengthPrefixed(pattern)}${lengthPrefixed(base)}`
  }
  text += '|'
  for (const part of extra) text += lengthPrefixed(part)
  return text
}

function lengthPrefixed(part: string | undefined): string {
  return part === undefined ? '-;' : `${part.length}:${part}`
}
