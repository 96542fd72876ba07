import { createHash } from 'node:crypto'
import type { RedisArgument } from '../link/client.ts'
import { deniedCommand } from '../link/denied-commands.ts'
import type { Link } from '../link/link.ts'

/** A script and the hash that identifies it: different versions of the library can use the same server. */
export interface Script {
  readonly source: string
  readonly sha: string
}

/** The keys of a script: at least one, because the first selects the server. */
export type ScriptKeys = readonly [string, ...(readonly string[])]

export function script(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

/**
 * Runs a script by its hash, or by its source on a server that does not know it (a restart or a promotion
 * empties the script cache) or that denies EVALSHA. `onDenied` gets that denial, if the source ran. Returns
 * undefined, without an effect, if the script would have to be sent again, and `maySendAgain` returns false:
 * steps that were sent meanwhile have overtaken it.
 */
export async function runScript(
  link: Link,
  { sha, source }: Script,
  keys: ScriptKeys,
  args: readonly RedisArgument[],
  onDenied: (error: unknown) => void = () => undefined,
  maySendAgain: () => boolean = () => true,
): Promise<unknown> {
  const rest = [String(keys.length), ...keys, ...args]
  try {
    return await link.send(keys[0], ['EVALSHA', sha, ...rest], 'text')
  } catch (error) {
    const unknown = error instanceof Error && error.message.startsWith('NOSCRIPT')
    if (!unknown && deniedCommand(error) !== 'evalsha') throw error
    if (!maySendAgain()) return undefined
    const reply = await link.send(keys[0], ['EVAL', source, ...rest], 'text')
    // Only now: where EVAL is denied, too, the caller learns of that alone.
    if (!unknown) onDenied(error)
    return reply
  }
}
