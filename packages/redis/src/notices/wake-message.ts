import type { Notice } from '@cattlegrid/core/extend'
import { escapeKey, unescapeKey } from '../redis-keys.ts'

/** A change of one key. */
export type KeyEvent = 'committed' | 'released' | 'deleted' | 'expired'

export const CLEARED = 'cleared'
const PAUSED = 'paused'

export function keyMessage(event: KeyEvent, key: string): string {
  return `${event} ${escapeKey(key)}`
}

/** An operator has paused all processes for `remaining` ms; 0: no more. */
export function pauseMessage(remaining: number): string {
  return `${PAUSED} ${remaining}`
}

/** The list of tags in a message; the script puts the number and the kind of the invalidation before it. */
export function tagList(tags: readonly string[]): string {
  return JSON.stringify(tags.map(escapeKey))
}

/** Parses a message of the channel. Returns undefined for one that this library did not send. */
export function parseMessage(message: string): Notice | undefined {
  const [kind = ''] = message.split(' ', 1)
  const rest = message.slice(kind.length + 1)
  switch (kind) {
    case 'committed':
    case 'released':
    case 'deleted':
    case 'expired': {
      const key = unescapeKey(rest)
      return key === undefined ? undefined : { kind, key }
    }
    case 'tags':
      return tagsNotice(rest)
    case PAUSED:
      return /^\d{1,10}$/.test(rest) ? { kind: PAUSED, remaining: Number(rest) } : undefined
    case CLEARED:
      return rest === '' ? { kind: CLEARED } : undefined
    default:
      return undefined
  }
}

function tagsNotice(rest: string): Notice | undefined {
  const [, number = '', how, list = ''] = /^(\d{1,16}) (delete|expire) (\[.*\])$/s.exec(rest) ?? []
  const tags = parseList(list).map((escaped) => (typeof escaped === 'string' ? unescapeKey(escaped) : undefined))
  const known = tags.filter((tag) => tag !== undefined)
  return known.length > 0 && known.length === tags.length
    ? { kind: 'tags', tags: known, tagSeq: Number(number), how: how === 'expire' ? how : 'delete' }
    : undefined
}

function parseList(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}
