import { InvalidKeyError } from '@cattlegrid/core'
import { isDigest, storedKey } from '@cattlegrid/core/extend'
import type { Command } from './command.ts'

/** As for the tags of a cache, in characters. */
const LONGEST_TAG = 256
const PAGE = ' | --page <url>'

interface Accepted {
  readonly synopsis: string
  readonly accepted: string
  readonly least: number
  readonly most: number
}

/** What a command takes: as its synopsis shows it, in words, and how many. */
export const OPERANDS: Readonly<Record<Command['operands'], Accepted>> = {
  none: { synopsis: '', accepted: 'no key', least: 0, most: 0 },
  key: { synopsis: ` <key>${PAGE}`, accepted: 'one key', least: 1, most: 1 },
  keys: { synopsis: ` <key>...${PAGE}`, accepted: 'one or more keys', least: 1, most: Infinity },
  tags: { synopsis: ' <tag>...', accepted: 'one or more tags', least: 1, most: Infinity },
}

/**
 * What is wrong with the operands of a command, or with the page in their place; undefined if they are valid.
 */
export function operandError(
  { name, operands: kind }: Command,
  operands: readonly string[],
  page: string | undefined,
): string | undefined {
  const { synopsis, accepted, least, most } = OPERANDS[kind]
  const count = operands.length
  if (page !== undefined) {
    if (!synopsis.endsWith(PAGE)) return `'${name}' takes no URL of a page.`
    return count === 0 ? undefined : `'${name}' takes keys or the URL of a page, not both.`
  }
  if (count < least) return `'${name}' takes ${accepted}; none was given.`
  if (count > most) return `'${name}' takes ${accepted}; ${count} ${count === 1 ? 'was' : 'were'} given.`
  return kind === 'tags' ? tagsError(operands) : keysError(operands)
}

/**
 * The key under which the store has the entry of a key. A digest, as `watch` and events print it in place of
 * a long key, is one already.
 */
export function storedKeyOf(key: string): string {
  return isDigest(key) ? key : storedKey(key)
}

function keysError(keys: readonly string[]): string | undefined {
  try {
    for (const key of keys) storedKey(key)
    return undefined
  } catch (error) {
    if (error instanceof InvalidKeyError) return error.message
    throw error
  }
}

function tagsError(tags: readonly string[]): string | undefined {
  const invalid = tags.find(({ length }) => length === 0 || length > LONGEST_TAG)
  return invalid === undefined ? undefined : `A tag has ${invalid.length} characters; accepted: 1 to ${LONGEST_TAG}.`
}
