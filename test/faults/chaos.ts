import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'
import { TestProcess } from '../fleet/process.ts'

export interface ChaosReport {
  /** Invalidations that the store acknowledged. */
  readonly invalidations: number
  /** Reads, after such an acknowledgement, of a value that was older. */
  readonly staleReads: number
  /** Reads that found a value at all. */
  readonly reads: number
  readonly pauses: number
  readonly kills: number
}

const KEYS = 8
const PROCESSES = 4
/** A run lasts until it has made this many pauses, however slowly the machine starts the processes that replace killed ones. */
const PAUSES = 4
/** So many reads find a value at least, however slow the machine is. */
const READS = 200
/** Each eighth time a process is killed; the other times it is stopped. */
const KILL_EVERY = 8

/** What the test knows of the cache under test: how to invalidate a key, and what stands there. */
interface Subject {
  invalidate(key: string): Promise<void>
  read(key: string): Promise<number | undefined>
  close(): Promise<void>
}

/**
 * Four processes ask for keys through a lock; they are stopped past their leases and killed at random. Meanwhile the source changes, each
 * change is followed by an invalidation, and after each acknowledgement every read is checked: nothing older may stand in the cache.
 */
export async function runChaos(lock: 'leases' | 'naive', invalidations: number, url: string): Promise<ChaosReport> {
  const namespace = `chaos-${lock}-${randomUUID()}`
  const truth = Array.from({ length: KEYS }, () => 0)
  const source = createServer((request, response) => response.end(String(truth[Number(request.url?.slice(2))])))
  await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
  const env = {
    CHAOS_REDIS: url,
    CHAOS_SOURCE: `http://127.0.0.1:${(source.address() as AddressInfo).port}`,
    CHAOS_NAMESPACE: namespace,
    CHAOS_LOCK: lock,
    CHAOS_KEYS: String(KEYS),
  }
  const start = (): Promise<TestProcess<never>> => TestProcess.start(join(__dirname, 'chaos-member.ts'), env)
  const members = await Promise.all(Array.from({ length: PROCESSES }, start))
  const subject = await (lock === 'leases' ? leaseSubject(url, namespace) : naiveSubject(url, namespace))
  const trouble = new Trouble(members, start)
  try {
    const perKey = Math.ceil(invalidations / KEYS)
    let reads = 0
    const lasts = (change: number): boolean => change <= perKey || trouble.pauses < PAUSES || reads < READS
    const onRead = (): void => {
      reads += 1
    }
    const stale = await Promise.all(truth.map((_, key) => check(subject, truth, key, lasts, onRead)))
    return {
      invalidations: truth.reduce((sum, changes) => sum + changes, 0),
      staleReads: stale.reduce((sum, count) => sum + count, 0),
      reads,
      ...(await trouble.end()),
    }
  } finally {
    await trouble.end()
    await subject.close()
    source.close()
    source.closeAllConnections()
  }
}

/** Changes the source, invalidates, and reads until the next change. Returns how often it read an older value; `onRead` is called for each value. */
async function check(
  subject: Subject,
  truth: number[],
  index: number,
  lasts: (change: number) => boolean,
  onRead: () => void,
): Promise<number> {
  const key = `k${index}`
  let stale = 0
  for (let change = 1; lasts(change); change += 1) {
    truth[index] = change
    await subject.invalidate(key)
    const until = performance.now() + 5 + Math.random() * 50
    let wrong = false
    while (performance.now() < until) {
      const value = await subject.read(key)
      if (value !== undefined) onRead()
      wrong ||= value !== undefined && value < change
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    if (wrong) stale += 1
  }
  return stale
}

/** Stops and kills members at random until it is told to end. */
class Trouble {
  readonly #members: TestProcess<never>[]
  readonly #start: () => Promise<TestProcess<never>>
  readonly #making: Promise<void>
  #pauses = 0
  #kills = 0
  #over = false

  get pauses(): number {
    return this.#pauses
  }

  constructor(members: TestProcess<never>[], start: () => Promise<TestProcess<never>>) {
    this.#members = members
    this.#start = start
    this.#making = this.#make()
  }

  async end(): Promise<{ pauses: number; kills: number }> {
    this.#over = true
    await this.#making
    await Promise.all(this.#members.map((member) => member.kill()))
    return { pauses: this.#pauses, kills: this.#kills }
  }

  async #make(): Promise<void> {
    for (let turn = 1; !this.#over; turn += 1) {
      const index = Math.floor(Math.random() * this.#members.length)
      const member = this.#members[index]
      if (member !== undefined && turn % KILL_EVERY === 0) this.#members[index] = await this.#replace(member)
      else if (member !== undefined) await this.#pause(member)
      await rest(20 + Math.random() * 60)
    }
  }

  async #pause(member: TestProcess<never>): Promise<void> {
    member.pause()
    this.#pauses += 1
    await rest(220 + Math.random() * 130)
    member.resume()
  }

  async #replace(member: TestProcess<never>): Promise<TestProcess<never>> {
    await member.kill()
    this.#kills += 1
    return await this.#start()
  }
}

async function leaseSubject(url: string, namespace: string): Promise<Subject> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  const cache = createCache({ store: redisStore({ client, namespace }), storeTimeout: '20s', ttl: '1h' })
  return {
    invalidate: (key) => cache.delete(key),
    read: (key) => cache.get<number>(key),
    close: async () => {
      await cache.close()
      client.destroy()
    },
  }
}

async function naiveSubject(url: string, namespace: string): Promise<Subject> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return {
    invalidate: async (key) => void (await client.del(`${namespace}:{${key}}`)),
    read: async (key) => {
      const found = await client.get(`${namespace}:{${key}}`)
      return found === null ? undefined : Number(found)
    },
    close: () => Promise.resolve(client.destroy()),
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
