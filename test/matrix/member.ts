// One process of the matrix, as an application is one: a cache over Redis with nothing but defaults, and a crowd of callers.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createCache, type Lookup } from '@cattlegrid/core'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { lookupByClaim } from '../support/lookup-by-claim.ts'
import type { Command } from './command.ts'
import type { Via } from './faults.ts'
import { learnName, loseName } from './lost-name.ts'
import { KEY_KINDS, type KeyKind, LOAD_TIME, type MemberReport, type Recovery, type Write, WRITES } from './report.ts'
import { type Crowd, KeyTally } from './tally.ts'

const PATIENCE = 20_000
const STEP = 20

const url = process.env['MATRIX_URL'] ?? ''
const MATRIX_VIA = process.env['MATRIX_VIA'] as Via
const trouble: string[] = []
for (const event of ['unhandledRejection', 'uncaughtException', 'warning'])
  process.on(event, (reason: unknown) => trouble.push(`${event}: ${String(reason)}`))

learnName()
// A process that does not get ready fails its cell instead of stopping the run.
const stillborn = setTimeout(() => process.exit(1), PATIENCE)

type UserClient = NonNullable<RedisStoreOptions['client']>

// Each loads its own package only.
const clients: Readonly<Record<Exclude<Via, 'url'>, () => Promise<UserClient>>> = {
  client: async () => nodeRedis((await import('redis')).createClient({ url })),
  redis5: async () => nodeRedis((await import('redis5')).createClient({ url })),
  async ioredis() {
    const { Redis } = await import('ioredis')
    const client = new Redis(url, { lazyConnect: true })
    client.on('error', () => {})
    await client.connect()
    return client
  },
}

async function nodeRedis<C extends { on(event: string, listener: () => void): unknown; connect(): Promise<unknown> }>(
  client: C,
): Promise<C> {
  client.on('error', () => {})
  await client.connect()
  return client
}

const store = redisStore(MATRIX_VIA === 'url' ? { url } : { client: await clients[MATRIX_VIA]() })
const cache = createCache({ store, ttl: '1h', staleWhileRevalidate: '1h' })
const tallies: Record<KeyKind, KeyTally> = { hot: new KeyTally(), stale: new KeyTally(), cold: new KeyTally() }
const writes: Record<Write, string[]> = { set: [], delete: [], expire: [], invalidateTags: [] }
let slowestWrite = 0
let stalled = 0
let recovery: Recovery | undefined

/** A loader that works, and counts. */
function loader(counted: () => void): () => Promise<string> {
  return async () => {
    counted()
    await rest(LOAD_TIME)
    return `loaded by ${process.pid}`
  }
}

/** Until it succeeds: a store that is just connecting, or slow on a busy machine, is not the fault under test. */
async function insist(attempt: () => Promise<boolean | void>): Promise<void> {
  const begun = performance.now()
  for (;;) {
    if ((await attempt().catch(() => false)) !== false) return
    if (performance.now() - begun > PATIENCE) throw new Error(`Not within ${PATIENCE} ms: ${attempt.toString()}`)
    await rest(STEP)
  }
}

async function know(): Promise<void> {
  await insist(async () => (await cache.lookup('hot', () => 'not known')).from === 'store')
  await insist(async () => (await cache.get('stale')) !== undefined)
}

async function wave(index: number, crowd: Crowd): Promise<void> {
  const turns = monitorEventLoopDelay({ resolution: 5 })
  turns.enable()
  const keyOf = (kind: KeyKind): string => (kind === 'cold' ? `cold:${index}` : kind)
  const unheard = cache.on('away', ({ key }) => {
    for (const kind of KEY_KINDS) if (keyOf(kind) === key) tallies[kind].missed(index)
  })
  await Promise.all(
    KEY_KINDS.map((kind) => {
      const key = keyOf(kind)
      const load = loader(() => tallies[kind].loaded(index))
      const ways = {
        getOrSet: () => cache.getOrSet(key, load),
        lookup: () => cache.lookup(key, load) as Promise<Lookup<unknown>>,
        claim: () => lookupByClaim(cache, key, load),
      }
      return tallies[kind].ask(index, crowd, ways)
    }),
  )
  unheard()
  turns.disable()
  stalled = Math.max(stalled, turns.max / 1e6)
}

/** One after the other, on keys of its own: an invalidation of what the callers ask for would be a second cause of loads. */
async function write(): Promise<void> {
  const key = `own:${process.pid}`
  const acts: Readonly<Record<Write, () => Promise<void>>> = {
    set: () => cache.set(key, 'written'),
    delete: () => cache.delete(key),
    expire: () => cache.expire(key),
    invalidateTags: () => cache.invalidateTags([key]),
  }
  for (const name of WRITES) {
    const begun = performance.now()
    const ended = await acts[name]().then(
      () => 'done',
      (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error),
    )
    writes[name].push(ended)
    slowestWrite = Math.max(slowestWrite, performance.now() - begun)
  }
}

/** Callers go on all the while: a stampede at the moment of recovery would show in the loads. */
async function recover(patience: number, callers: number): Promise<void> {
  const begun = performance.now()
  let loads = 0
  const load = loader(() => (loads += 1))
  const back = async (attempt: () => Promise<boolean>): Promise<number | null> => {
    while (performance.now() - begun < patience) {
      if (await attempt()) return performance.now() - begun
      await rest(STEP)
    }
    return null
  }
  const asked = async (): Promise<boolean> => {
    const crowd = Array.from({ length: callers }, () => cache.getOrSet('hot', load))
    const [{ from }] = await Promise.all([cache.lookup('hot', load), ...crowd])
    return from === 'store'
  }
  const reads = await back(() =>
    asked().catch((error: unknown) => {
      tallies.hot.failed(error)
      return false
    }),
  )
  const written = await back(() =>
    cache.set(`own:${process.pid}`, 'back').then(
      () => true,
      () => false,
    ),
  )
  recovery = { reads, writes: written, loads }
}

async function execute(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'fill':
      return await insist(async () => {
        await Promise.all([cache.set('hot', 'written'), cache.set('stale', 'written')])
      })
    case 'know':
      return await know()
    case 'age':
      return await insist(() => cache.expire('stale'))
    case 'wave':
      return await wave(command.wave, command)
    case 'write':
      return await write()
    case 'recover':
      return await recover(command.patience, command.callers)
    case 'name':
      return loseName(command.gone)
    case 'report':
      return { keys: tallies, writes, slowestWrite, stalled, recovery, trouble } satisfies MemberReport
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

process.on('message', ({ id, command }: { id: number; command: Command }) => {
  execute(command).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
clearTimeout(stillborn)
process.send?.({ ready: true })
