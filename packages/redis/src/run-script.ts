import { createHash } from 'node:crypto'
import type { Link } from './link/link.ts'
import { AS_TEXT, type Argument } from './redis-client.ts'

/** A script as Redis knows it: by the hash of its text, so that old and new versions live side by side. */
export interface Script {
  readonly source: string
  readonly sha: string
}

/** A script's keys, of which there is one at least: it says which server runs it. */
export type ScriptKeys = readonly [string, ...(readonly string[])]

export function script(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

/** Runs a script by its hash, or by its text on a server that does not have it: a restart or a promotion empties the server's scripts. */
export async function runScript(
  link: Link,
  { sha, source }: Script,
  keys: ScriptKeys,
  args: readonly Argument[],
): Promise<unknown> {
  const rest = [String(keys.length), ...keys, ...args]
  try {
    return await link.send(keys[0], ['EVALSHA', sha, ...rest], AS_TEXT)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return await link.send(keys[0], ['EVAL', source, ...rest], AS_TEXT)
  }
}
