import type { Acquire, AcquireRequest, Ending } from '@cattlegrid/core'
import type { RedisKeys } from './redis-keys.ts'
import { failureOf, markOf } from './lease-value.ts'
import type { Link } from './link/link.ts'
import { luaSources } from './lua.generated.ts'
import { type EncodedRecord, wholeMs } from './record.ts'
import { AS_TEXT, type Argument } from './redis-client.ts'
import { runScript, script, type ScriptKeys } from './run-script.ts'
import { keyMessage, tagList } from './wake-message.ts'

/** A record that may travel through a script: above this, the script would copy more than it saves. */
const LONGEST_ARGUMENT = 2048
/** A record that waits for its commit is soon committed, or its writer is dead. */
const TEMPORARY_LIFE = '10000'

const scripts = {
  acquire: script(luaSources.acquire),
  commit: script(luaSources.commit),
  put: script(luaSources.put),
  renew: script(luaSources.renew),
  release: script(luaSources.release),
  invalidate: script(luaSources.invalidate),
  invalidateTags: script(luaSources.invalidateTags),
  noteTags: script(luaSources.noteTags),
} as const

/** A grant: the version that its commit writes, and how many loads have failed in a row. */
export interface Grant {
  readonly kind: 'lead'
  readonly version: string
  readonly attempts: number
}

/** A refusal that the script can tell apart: no lease at all, or somebody else's. */
export type Rejection = 'gone' | 'taken'

/**
 * The atomic steps, one script each: the one place that knows their KEYS, ARGV and replies. They reject with what Redis or the client
 * says; the caller turns that into `away`.
 */
export class Scripts {
  readonly #link: Link
  readonly #redisKeys: RedisKeys

  constructor(link: Link, redisKeys: RedisKeys) {
    this.#link = link
    this.#redisKeys = redisKeys
  }

  async acquire(
    key: string,
    token: string,
    { duration, seen, wake }: AcquireRequest,
  ): Promise<Grant | Exclude<Acquire, { kind: 'lead' | 'away' }>> {
    const args = [token, ms(duration), Buffer.from(seen, 'latin1'), wake ? '1' : '0']
    const reply = await this.#run('acquire', this.#keys(key), args)
    const [code, first, second, third] = reply as readonly [number, ...unknown[]]
    switch (code) {
      case 1:
        return { kind: 'lead', version: String(first), attempts: Number(second) }
      case 2:
        return { kind: 'held', remaining: Number(first) }
      case 3:
        return { kind: 'changed' }
      case 4:
        return {
          kind: 'cooling',
          remaining: Number(first),
          attempts: Number(second),
          failure: failureOf(String(third)),
        }
      case 5:
        return { kind: 'uncacheable', remaining: Number(first), share: second === '1' }
      case 6:
        return { kind: 'held-off', remaining: Number(first) }
      default:
        throw new TypeError(`The acquire script answered ${code}`)
    }
  }

  async commit(key: string, token: string, { bytes, keepFor }: EncodedRecord): Promise<'stored' | Rejection> {
    const args = [token, ms(keepFor), this.#redisKeys.channel, keyMessage('committed', key)]
    const reply = await this.#write(key, token, bytes, (keys, record) =>
      this.#run('commit', keys, [...args, ...record]),
    )
    return rejectionOf(reply) ?? 'stored'
  }

  /** Returns the version that the server gave. */
  async put(key: string, token: string, { bytes, keepFor }: EncodedRecord): Promise<string> {
    const args = [ms(keepFor), this.#redisKeys.channel, keyMessage('committed', key)]
    const reply = await this.#write(key, token, bytes, (keys, record) => this.#run('put', keys, [...args, ...record]))
    return String(reply)
  }

  async renew(key: string, token: string, duration: number): Promise<'renewed' | Rejection> {
    return rejectionOf(await this.#run('renew', [this.#redisKeys.lease(key)], [token, ms(duration)])) ?? 'renewed'
  }

  async release(key: string, token: string, ending: Ending): Promise<'released' | Rejection> {
    const { value, duration } = markOf(ending)
    const drop = ending.kind === 'uncacheable' ? '1' : '0'
    const args = [token, value, ms(duration), drop, this.#redisKeys.channel, keyMessage('released', key)]
    return rejectionOf(await this.#run('release', this.#keys(key), args)) ?? 'released'
  }

  async invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<void> {
    const message = keyMessage(how === 'delete' ? 'deleted' : 'expired', key)
    const args = [how, this.#redisKeys.channel, message, holdOff > 0 ? ms(holdOff) : '0']
    await this.#run('invalidate', this.#keys(key), args)
  }

  /** Returns the number that the tags have now. */
  async invalidateTags(tags: readonly string[]): Promise<number> {
    return Number(await this.#run('invalidateTags', this.#tagKeys(tags), [this.#redisKeys.channel, tagList(tags)]))
  }

  /** The tag sequence, and the greatest number among the tags; one that has none yet gets the sequence's. */
  async noteTags(
    tags: readonly string[],
    keepFor: number,
  ): Promise<{ readonly sequence: number; readonly greatest: number }> {
    const reply = (await this.#run('noteTags', this.#tagKeys(tags), [ms(keepFor)])) as readonly string[]
    const [sequence = 0, ...numbers] = reply.map(Number)
    return { sequence, greatest: Math.max(0, ...numbers) }
  }

  #run(name: keyof typeof scripts, keys: ScriptKeys, args: readonly Argument[]): Promise<unknown> {
    return runScript(this.#link, scripts[name], keys, args)
  }

  /** A long record goes ahead to a key of its own, in the same write; should that key be gone when the script runs, it goes along. */
  async #write(
    key: string,
    token: string,
    bytes: Buffer,
    run: (keys: ScriptKeys, record: readonly Buffer[]) => Promise<unknown>,
  ): Promise<unknown> {
    const keys = this.#keys(key)
    if (bytes.length <= LONGEST_ARGUMENT) return await run(keys, [bytes])
    const temporary = this.#redisKeys.temporary(key, token)
    const ahead = this.#link.send(temporary, ['SET', temporary, bytes, 'PX', TEMPORARY_LIFE], AS_TEXT)
    const [, reply] = await Promise.all([ahead, run([...keys, temporary], [])])
    return reply === -3 || reply === '' ? await run(keys, [bytes]) : reply
  }

  #keys(key: string): readonly [entry: string, lease: string] {
    return [this.#redisKeys.entry(key), this.#redisKeys.lease(key)]
  }

  #tagKeys(tags: readonly string[]): ScriptKeys {
    return [this.#redisKeys.tagSequence, ...tags.map((tag) => this.#redisKeys.tag(tag))]
  }
}

function ms(duration: number): string {
  return String(wholeMs(duration))
}

function rejectionOf(reply: unknown): Rejection | undefined {
  if (reply === -1) return 'gone'
  return reply === -2 ? 'taken' : undefined
}
