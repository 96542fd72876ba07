import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createClient } from 'redis'
import type { Command, Ended } from './member.ts'
import { type Origin, startOrigin } from './origin.ts'

export type { Ended } from './member.ts'

let commands = 0

/** A real process that the test speaks to, stops, and kills. */
export class Member {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
  }

  async tell<T>(command: Command): Promise<T> {
    const id = (commands += 1)
    const answer = new Promise<T>((resolve, reject) => {
      const listen = (message: { id?: number; result?: T; error?: string }): void => {
        if (message.id !== id) return
        this.#child.off('message', listen)
        if (message.error === undefined) resolve(message.result as T)
        else reject(new Error(message.error))
      }
      this.#child.on('message', listen)
      this.#child.once('exit', () => reject(new Error('The process ended')))
    })
    this.#child.send({ id, command })
    return answer
  }

  ask(
    key: string,
    callers: number,
    options: (Command & { do: 'ask' })['options'] = {},
    path = `/${key}`,
  ): Promise<Ended[]> {
    return this.tell<Ended[]>({ do: 'ask', key, callers, path, options })
  }

  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}

/** Four processes over one Redis, and the origin that counts their loads. */
export class Fleet {
  readonly members: readonly Member[]
  readonly origin: Origin
  readonly redis: ReturnType<typeof createClient>
  readonly #namespace: string

  private constructor(
    members: readonly Member[],
    origin: Origin,
    redis: ReturnType<typeof createClient>,
    namespace: string,
  ) {
    this.members = members
    this.origin = origin
    this.redis = redis
    this.#namespace = namespace
  }

  static async start(size = 4): Promise<Fleet> {
    const url = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''
    const namespace = `fleet-${process.pid}-${(commands += 1)}`
    const origin = await startOrigin()
    const redis = createClient({ url })
    redis.on('error', () => {})
    await redis.connect()
    const env = { ...process.env, FLEET_REDIS: url, FLEET_NAMESPACE: namespace, FLEET_ORIGIN: origin.url }
    const members = await Promise.all(Array.from({ length: size }, () => startMember(env)))
    return new Fleet(members, origin, redis, namespace)
  }

  member(index: number): Member {
    const member = this.members[index]
    if (member === undefined) throw new Error(`No member ${index}`)
    return member
  }

  /** The Redis key of a cache key's entry; `:l` behind it is that of its lease. */
  entryKey(key: string): string {
    return `${this.#namespace}:{${key}}`
  }

  /** Every entry key of the fleet that stands in Redis. */
  async entryKeys(): Promise<string[]> {
    return (await this.redis.keys(`${this.#namespace}:{*}`)).filter((key) => key.endsWith('}'))
  }

  async stop(): Promise<void> {
    for (const member of this.members) member.resume()
    await Promise.all(this.members.map((member) => member.kill()))
    this.redis.destroy()
    await this.origin.close()
  }
}

async function startMember(env: NodeJS.ProcessEnv): Promise<Member> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(__dirname, 'member.ts')], {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [undefined])])) as [
    unknown,
  ]
  if (message === undefined) throw new Error('A member of the fleet ended before it was ready')
  return new Member(child)
}

/** Looks until it is so; the test's own time limit is the only one. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}
