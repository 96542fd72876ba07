import type { CancelTimer, Runtime } from '@cattlegrid/core'
import type { RedisKeys } from './redis-keys.ts'
import type { Link } from './link/link.ts'
import type { Scripts } from './scripts.ts'
import { readTagSequence } from './tag-numbers.ts'

/** Before everything that a tag's number could be: a load that knows no more may name no tags. */
const UNKNOWN = 0
/** How long after the lease was granted the tag sequence may take, ms: as a rule it came with it. */
const PATIENCE = 100

/** The tag sequence at this moment, made where there is none. */
export async function tagSequence(link: Link, names: RedisKeys, scripts: Scripts): Promise<number> {
  try {
    // As a rule it is there, and a script costs the server several times as much.
    return (await readTagSequence(link, names)) ?? (await scripts.noteTags([], 1)).sequence
  } catch {
    return UNKNOWN
  }
}

/**
 * The tag sequence, which must be known before the load begins. Its slot may be another server's, which is silent while the key's own is
 * not: no load may hang on that, and one that then names no tag need not suffer from it either.
 */
export function withTimeout(noting: Promise<number>, runtime: Runtime): Promise<number> {
  return new Promise((resolve) => {
    const half = (action: () => void): CancelTimer => runtime.schedule(action, PATIENCE / 2)
    // In two parts: a process that has stood still comes to its timers before it comes to the answer that lies there.
    let cancel = half(() => {
      cancel = half(() => resolve(UNKNOWN))
    })
    void noting.then((sequence) => {
      cancel()
      resolve(sequence)
    })
  })
}
