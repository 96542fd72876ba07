import { startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { Member } from './fleet.ts'

export const peers = [
  'apicache',
  'route-cache',
  'cacheable',
  'cache-manager',
  'redis-semaphore',
  'bentocache',
  'nestjs',
] as const

/** What callers got from one version of an example, and how often the database was asked for it. */
export interface Played {
  /** One caller: twice before a price changes, once after it. */
  readonly answers: readonly unknown[]
  /** The same caller for two products at once, of which it knows one; undefined for an example that reads one at a time. */
  readonly many: unknown
  /** A product that is not cached, and that all callers of all processes ask for at once. */
  readonly cold: Herd
  /** The same, while each query fails. */
  readonly failing: Herd
}

export interface Herd {
  readonly callers: number
  readonly queries: number
  /** Each answer once, as JSON. */
  readonly answers: readonly string[]
}

const PROCESSES = 2
/** A query that lasts so long ends after all callers have come, also on a busy machine. */
const COLD = { id: 'cold', delay: 600, callers: 20 }
/** Fewer callers, because some peers send their queries one after another. */
const FAILING = { id: 'failing', delay: 400, callers: 5 }
const ATTEMPTS = 50

type Database = Awaited<ReturnType<typeof connect>>

// Its type is inferred: the general type of a client is another one.
async function connect(url: string) {
  const client = createClient({ url })
  client.on('error', () => undefined)
  return await client.connect()
}

/** Plays examples one after another, in processes of their own, on a Redis and a database of their own. */
export async function play(examples: readonly string[]): Promise<Map<string, Played>> {
  const [redis, source] = await Promise.all([startRedis({ own: true }), startRedis({ own: true })])
  const [store, database] = await Promise.all([connect(redis.url), connect(source.url)])
  const members = Array.from(
    { length: PROCESSES },
    () => new Member({ REDIS_URL: redis.url, DATABASE_URL: source.url }),
  )
  try {
    const played = new Map<string, Played>()
    for (const example of examples) {
      // Nothing is left of the example before, whose keys are the same.
      await store.flushAll()
      played.set(example, await playOne(members, database, example))
    }
    return played
  } finally {
    await Promise.all(members.map((member) => member.end()))
    for (const client of [store, database]) client.destroy()
    await Promise.all([redis.stop(), source.stop()])
  }
}

async function playOne(members: readonly Member[], database: Database, example: string): Promise<Played> {
  await database.flushAll()
  await Promise.all(members.map((member) => member.tell({ do: 'open', example })))
  await askTogether(members, 'warm', 1, () => database.hSet('prices', 'one', 10))
  const answers = await visit(members[0])
  const many = await members[0]?.tell({ do: 'read-many', ids: ['one', 'two'] })
  const cold = await herd(members, database, COLD)
  await database.set('down', 'yes')
  return { answers, many, cold, failing: await herd(members, database, FAILING) }
}

/** What one caller gets. */
async function visit(member: Member | undefined): Promise<readonly unknown[]> {
  const read = async (): Promise<readonly unknown[]> => (await member?.read('one', 1))?.values ?? []
  const before = [...(await read()), ...(await read())]
  await member?.tell({ do: 'change', id: 'one', price: 11 })
  return [...before, ...(await read())]
}

/** Asks for one product after another, until no process loads for itself: at its start, and on a machine that stalls, a process does so. */
async function askTogether(members: readonly Member[], id: string, callers: number, begin: () => Promise<unknown>) {
  for (let attempt = 1; ; attempt += 1) {
    await begin()
    const all = await Promise.all(members.map((member) => member.read(`${id}-${attempt}`, callers)))
    if (attempt === ATTEMPTS || all.every(({ alone }) => !alone)) return all.flatMap(({ values }) => values)
  }
}

async function herd(
  members: readonly Member[],
  database: Database,
  { id, delay, callers }: typeof COLD,
): Promise<Herd> {
  await database.set('delay', delay)
  const values = await askTogether(members, id, callers, () => database.set('queries', 0))
  const answers = new Set(values.map((value) => JSON.stringify(value)))
  return { callers: values.length, queries: Number(await database.get('queries')), answers: [...answers].toSorted() }
}
