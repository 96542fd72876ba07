import {
  type Acquire,
  type AcquireRequest,
  type Ending,
  NO_VERSION,
  type RefreshRequest,
  type Runtime,
} from '@cattlegrid/core/extend'
import { type EncodedRecord, wholeMs } from '../entries/record.ts'
import { encodeKeyState, failureOf, holderOf, PROCESS_NAME } from '../leases/lease-value.ts'
import type { RedisArgument } from '../link/client.ts'
import type { DeniedCommands } from '../link/denied-commands.ts'
import type { Link } from '../link/link.ts'
import type { StepRunner } from '../link/step-runner.ts'
import { keyMessage, tagList } from '../notices/wake-message.ts'
import type { RedisKeys } from '../redis-keys.ts'
import { runScript, type Script, script, type ScriptKeys } from './run-script.ts'
import type { ServerClocks, TimedReply, TimedTerms } from './server-clock.ts'
import { luaSources } from './sources.generated.ts'

/** The longest record passed as a script argument, bytes. A longer one costs more than SET and RENAME. */
const LONGEST_ARGUMENT = 2048
/** The time to live of a temporary key, ms. Only a crashed process leaves one behind. */
const TEMPORARY_LIFE = '10000'
/** The first part of the reply of a script whose latest moment was over. */
const TOO_LATE = 7

type ScriptName = keyof typeof luaSources

const scripts = Object.fromEntries(
  Object.entries(luaSources).map(([name, source]) => [name, script(source)]),
) as Readonly<Record<ScriptName, Script>>

/** A granted lease: the version that its commit writes, and the number of loads that failed in a row. */
export interface Grant {
  readonly kind: 'lead'
  readonly version: string
  readonly attempts: number
  /** True when it has replaced a value that no store of this library writes. */
  readonly overForeign: boolean
}

/** A lease of this process. */
export interface HeldLease {
  readonly key: string
  readonly token: string
}

/** The tags of an entry, and the minimum time to keep their numbers, ms. */
export interface NumberedTags {
  readonly tags: readonly string[]
  readonly keepFor: number
}

/** The terms of a put. */
export interface PutTerms extends TimedTerms {
  /** False once a later step of this process on the key was sent: the script is not sent again. */
  readonly maySendAgain: () => boolean
  readonly tags?: NumberedTags | undefined
}

/** For how long the answers to a question are kept, ms, and how many. */
export interface AnswerLimits {
  readonly keepFor: number
  readonly most: number
}

/** What the steps of a store use. */
export interface StepParts {
  readonly link: Link
  readonly runtime: Runtime
  readonly redisKeys: RedisKeys
  readonly denied: DeniedCommands
  readonly clocks: ServerClocks
  readonly scripts: Scripts
  readonly steps: StepRunner
}

/** Why a script refuses a token: there is no lease, or another token holds it. */
export type Rejection = 'gone' | 'taken'

/**
 * Calls the Lua scripts, one for each atomic step. No other code knows their KEYS, ARGV and replies. The
 * methods reject with the error of Redis or the client; the step runner turns it into `away`.
 */
export class Scripts {
  readonly #parts: Omit<StepParts, 'scripts' | 'steps'>
  readonly #channelsOf: (key: string) => readonly string[]

  /** `channelsOf`: the channels of the notices about a key, but for that of the namespace. */
  constructor(parts: Omit<StepParts, 'scripts' | 'steps'>, channelsOf: (key: string) => readonly string[]) {
    this.#parts = parts
    this.#channelsOf = channelsOf
  }

  async acquire(
    key: string,
    token: string,
    request: AcquireRequest,
  ): Promise<Grant | Exclude<Acquire, { kind: 'lead' | 'away' }>> {
    const { duration, seen, wake, maxCooldown } = request
    const longest = maxCooldown === undefined ? '' : ms(maxCooldown)
    const args = [token, ms(duration), Buffer.from(seen, 'latin1'), wake ? '1' : '0']
    const keys = this.#keys(key)
    const reply = await this.#parts.clocks.run(keys[0], request, async (latest) =>
      timed(await this.#run('acquire', keys, [...args, latest, longest, PROCESS_NAME]), 3),
    )
    const [code, first, second, third, fourth] = reply as readonly [number, ...unknown[]]
    switch (code) {
      case 1:
        return { kind: 'lead', version: String(first), attempts: Number(second), overForeign: fourth === '1' }
      case 2:
        return { kind: 'held', remaining: Number(first), holder: holderOf(String(second)) }
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
        throw new TypeError(`The acquire script returned the unknown code ${code}`)
    }
  }

  async commit(key: string, token: string, { bytes, keepFor }: EncodedRecord): Promise<'stored' | Rejection> {
    const args = [token, ms(keepFor), this.#parts.redisKeys.channel, keyMessage('committed', key)]
    const reply = await this.#write(key, token, bytes, (keys, record) =>
      this.#run('commit', keys, [...args, record[0] ?? '', ...this.#channelsOf(key)]),
    )
    return rejectionOf(reply) ?? 'stored'
  }

  /**
   * Returns the version that the script wrote; `NO_VERSION`, if it would have to be sent again, and
   * `maySendAgain` returns false. With `tags`, it writes the tag sequence into the record and numbers the
   * tags, which must be on the same server.
   */
  async put(key: string, token: string, { bytes, keepFor }: EncodedRecord, terms: PutTerms): Promise<string> {
    const { maySendAgain, tags } = terms
    const args = [ms(keepFor), this.#parts.redisKeys.channel, keyMessage('committed', key)]
    const tagKeys = tags === undefined ? [] : this.#tagKeys(tags.tags)
    const rest = [tags === undefined ? '' : ms(tags.keepFor), ...this.#channelsOf(key)]
    const write = async (latest: string): Promise<TimedReply<unknown>> => {
      // Also at first: the server's time may have had to be learned.
      if (!maySendAgain()) return timed(undefined, 2)
      const run = (keys: ScriptKeys, record: readonly Buffer[]): Promise<unknown> =>
        this.#run('put', [...keys, ...tagKeys], [...args, record[0] ?? '', latest, ...rest], maySendAgain)
      return timed(await this.#write(key, token, bytes, run, maySendAgain), 2)
    }
    const reply = await this.#parts.clocks.run(this.#parts.redisKeys.entry(key), terms, write)
    return Array.isArray(reply) ? String(reply[1]) : NO_VERSION
  }

  /** The leases must be on one server: of a cluster, it takes one. */
  async renew(leases: readonly HeldLease[], duration: number): Promise<readonly ('renewed' | Rejection)[]> {
    const [first = '', ...others] = leases.map(({ key }) => this.#parts.redisKeys.lease(key))
    const reply = await this.#run('renew', [first, ...others], [ms(duration), ...leases.map(({ token }) => token)])
    return (reply as readonly unknown[]).map((code) => rejectionOf(code) ?? 'renewed')
  }

  async release(key: string, token: string, ending: Ending): Promise<'released' | Rejection> {
    const { value, duration } = encodeKeyState(ending)
    const lease = this.#parts.redisKeys.lease(key)
    // One key, if possible: while a slot moves, a script fails whose keys are on different nodes.
    const keys: ScriptKeys = ending.kind === 'uncacheable' ? [lease, this.#parts.redisKeys.entry(key)] : [lease]
    const channels = [this.#parts.redisKeys.channel, keyMessage('released', key), ...this.#channelsOf(key)]
    const args = [token, value, ms(duration), ...channels]
    return rejectionOf(await this.#run('release', keys, args)) ?? 'released'
  }

  async invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<void> {
    const message = keyMessage(how === 'delete' ? 'deleted' : 'expired', key)
    const args = [how, this.#parts.redisKeys.channel, message, holdOff > 0 ? ms(holdOff) : '0']
    await this.#run('invalidate', this.#keys(key), [...args, ...this.#channelsOf(key)])
  }

  /** Returns the new number of the tags. `deleteAfter`: the end of an expiry, ms. */
  async invalidateTags(tags: readonly string[], how: 'delete' | 'expire', deleteAfter?: number): Promise<number> {
    const args = [how, this.#parts.redisKeys.channel, tagList(tags), deleteAfter === undefined ? '' : ms(deleteAfter)]
    return Number(await this.#run('invalidateTags', this.#tagKeys(tags), args))
  }

  /**
   * Returns the tag sequence and the greatest number of an invalidation of the tags. A tag without a number
   * gets that of the sequence.
   */
  async noteTags({ tags, keepFor }: NumberedTags): Promise<{ readonly sequence: number; readonly greatest: number }> {
    const reply = (await this.#run('noteTags', this.#tagKeys(tags), [ms(keepFor)])) as readonly string[]
    const [sequence = 0, ...numbers] = reply.map(Number)
    return { sequence, greatest: Math.max(0, ...numbers) }
  }

  /** Returns 0 for a granted permit, else the time after which to ask again, ms. */
  async permitRefresh(request: RefreshRequest): Promise<number> {
    const { perSecond, atOnce, holdFor } = request
    const args = [permitOf(request), limit(perSecond), limit(atOnce), ms(holdFor)]
    return Number(await this.#run('permitRefresh', this.#refreshKeys(), args))
  }

  async endRefresh(request: RefreshRequest, unused: boolean): Promise<void> {
    await this.#run('endRefresh', this.#refreshKeys(), [permitOf(request), unused ? limit(request.perSecond) : '0'])
  }

  /** Gives an answer to a question, unless it has too many. */
  async answer(question: string, answer: string, { keepFor, most }: AnswerLimits): Promise<void> {
    await this.#run('answer', [this.#parts.redisKeys.answers(question)], [answer, ms(keepFor), String(most)])
  }

  /** Rejects where the server runs no scripts, or is too old for those of the store. */
  async probe(): Promise<void> {
    await this.#run('probe', [this.#parts.redisKeys.temporary('', 'probe')], [])
  }

  async #run(
    name: ScriptName,
    keys: ScriptKeys,
    args: readonly RedisArgument[],
    maySendAgain?: () => boolean,
  ): Promise<unknown> {
    const onDenied = (error: unknown): void => this.#parts.denied.note(error)
    try {
      return await runScript(this.#parts.link, scripts[name], keys, args, onDenied, maySendAgain)
    } catch (error) {
      this.#parts.denied.note(error, scripts[name].source)
      throw error
    }
  }

  /** Sends a long record to a temporary key in the same write; if that key is gone, as an argument. */
  async #write(
    key: string,
    token: string,
    bytes: Buffer,
    run: (keys: ScriptKeys, record: readonly Buffer[]) => Promise<unknown>,
    maySendAgain: () => boolean = () => true,
  ): Promise<unknown> {
    const keys = this.#keys(key)
    if (bytes.length <= LONGEST_ARGUMENT) return await run(keys, [bytes])
    const temporary = this.#parts.redisKeys.temporary(key, token)
    const sent = this.#parts.link.send(temporary, ['SET', temporary, bytes, 'PX', TEMPORARY_LIFE], 'text')
    const [, reply] = await Promise.all([sent, run([...keys, temporary], [])])
    const isGone = reply === -3 || (Array.isArray(reply) && reply[0] === 0)
    if (!isGone) return reply
    return maySendAgain() ? await run(keys, [bytes]) : undefined
  }

  #keys(key: string): readonly [entry: string, lease: string] {
    return [this.#parts.redisKeys.entry(key), this.#parts.redisKeys.lease(key)]
  }

  #refreshKeys(): ScriptKeys {
    return [this.#parts.redisKeys.refreshRate, this.#parts.redisKeys.runningRefreshes]
  }

  #tagKeys(tags: readonly string[]): ScriptKeys {
    return [this.#parts.redisKeys.tagSequence, ...tags.map((tag) => this.#parts.redisKeys.tag(tag))]
  }
}

/** The reply of a script that has a latest moment; `place`: of the server's time, if it ran. */
function timed(reply: unknown, place: number): TimedReply<unknown> {
  const parts = Array.isArray(reply) ? (reply as readonly unknown[]) : []
  const late = parts[0] === TOO_LATE
  const time = late ? parts[1] : parts[0] === 1 ? parts[place] : undefined
  return { reply, late, time: time === undefined ? undefined : Number(time) }
}

function ms(duration: number): string {
  return String(wholeMs(duration))
}

/** Names a permit among those that run, and says how long it can live. */
function permitOf({ token, holdFor }: RefreshRequest): string {
  return `${token}:${ms(holdFor)}`
}

/** A limit of the refresh budget; '0' for none. */
function limit(most: number | undefined): string {
  return String(most ?? 0)
}

function rejectionOf(reply: unknown): Rejection | undefined {
  if (reply === -1) return 'gone'
  return reply === -2 ? 'taken' : undefined
}
