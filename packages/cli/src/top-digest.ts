import { hotKeyDigest } from '@cattlegrid/explain'
import type { Connection } from './connection.ts'
import { scan } from './scan.ts'

const TOP_DIGEST = /^#[0-9a-f]{12}$/
/** The share of the time left that the search may take. */
const SEARCH_SHARE = 0.75

/** The key with an entry that `top` shows by this digest; undefined for any other text, and where the search finds none in time. */
export async function keyOfTopDigest(connection: Connection, digest: string): Promise<string | undefined> {
  if (!TOP_DIGEST.test(digest)) return undefined
  const { redisKeys, runtime } = connection
  const endsAt = runtime.elapsed() + connection.timeLeft * SEARCH_SHARE
  for await (const { names } of scan(connection, redisKeys.patterns.entries)) {
    const keys = names.map((name) => redisKeys.keyOf(name)).filter((key) => key !== undefined)
    const found = keys.find((key) => hotKeyDigest(key) === digest)
    if (found !== undefined || runtime.elapsed() > endsAt) return found
  }
  return undefined
}
