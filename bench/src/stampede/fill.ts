// What it costs the server to take in a large value, beside a plain SET.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { connected } from '../contenders/node-redis.ts'
import type { BenchOptions } from '../run/bench.ts'
import type { RedisMeter } from '../run/redis-meter.ts'
import type { Findings } from '../run/result.ts'
import { figureOf, interleave, ratio } from '../run/rounds.ts'
import type { Fleet } from './fleet.ts'

const BYTES = 256 * 1024
const HOUR = 3_600_000
const OURS = 'cattlegrid'
const PEER = 'naive lock'
const SET = 'plain SET'
/** The least that a fill under a lease sends, as plain commands: look, take the lease, then write and give it back in one write. */
const LEASED = 'GET, SET NX, SET + DEL'
/** The same where nobody loads what has come meanwhile, and nobody writes who has lost the lease: each takes a script, here the shortest. */
const FENCED = 'GET, script, SET + script'
const NAMES = [OURS, PEER, FENCED, LEASED, SET]

export async function fillTable(url: string, fleet: Fleet, look: RedisMeter, options: BenchOptions): Promise<Findings> {
  const fills = options.smoke ? 5 : 200
  const contenders = NAMES.map((name) => ({
    name,
    measure: () => {
      const fill = byHand[name]
      return fill === undefined ? through(name, fleet, look, fills) : plain(url, look, fills, fill)
    },
  }))
  const seen = await interleave(contenders, options.rounds)
  const cost = ratio(seen, OURS, SET, 'server')
  return {
    tables: [
      {
        id: 'stampede-fill',
        title: 'A fill of 256 KB: what the server does for it',
        columns: [
          { id: 'server', title: 'server CPU, µs', digits: 0 },
          { id: 'ratio', title: 'SET = 1', digits: 2 },
        ],
        rows: NAMES.map((name) => ({
          name,
          is: name === OURS ? 'ours' : name === PEER ? 'peer' : 'floor',
          cells: { server: figureOf(seen, name, 'server'), ratio: ratio(seen, name, SET, 'server') },
        })),
      },
    ],
    targets: [{ what: 'Fill of 256 KB: server CPU against SET', op: '<=', wanted: 1.25, got: cost, unit: '×' }],
  }
}

async function through(name: string, fleet: Fleet, look: RedisMeter, fills: number): Promise<Record<string, number>> {
  await fleet.open(name, { loadTime: 0, bytes: BYTES, ttl: HOUR, stale: 0 }, { processes: 1 })
  const before = await look.cpu()
  // One after another, as fills come; all at once would measure the socket's buffers.
  for (let fill = 0; fill < fills; fill += 1) await fleet.members[0]?.ask('prime', `fill-${fill}`)
  // Who writes behind its callers has written by then.
  await sleep(200)
  const server = ((await look.cpu()) - before) * 1000
  await fleet.close()
  await look.flush()
  return { server: server / fills }
}

async function plain(url: string, look: RedisMeter, fills: number, fill: Fill): Promise<Record<string, number>> {
  const client = await connected(url)
  const text = JSON.stringify({ key: 'fill-000', text: 'x'.repeat(BYTES) })
  for (const script of [GRANT, COMMIT]) await client.scriptLoad(script)
  const before = await look.cpu()
  for (let round = 0; round < fills; round += 1) await fill(client, `plain:fill-${round}`, text)
  await sleep(200)
  const server = ((await look.cpu()) - before) * 1000
  await client.close()
  await look.flush()
  return { server: server / fills }
}

type Fill = (client: Awaited<ReturnType<typeof connected>>, key: string, text: string) => Promise<unknown>

const set: Fill = (client, key, text) => client.set(key, text, { expiration: { type: 'PX', value: HOUR } })

const setLeased: Fill = async (client, key, text) => {
  const lease = `${key}:lease`
  await client.get(key)
  await client.set(lease, randomUUID(), { condition: 'NX', expiration: { type: 'PX', value: HOUR } })
  return await Promise.all([set(client, key, text), client.del(lease)])
}

const GRANT = `if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
return redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2])`
const COMMIT = `if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('RENAME', KEYS[3], KEYS[1])
return redis.call('DEL', KEYS[2])`

const setFenced: Fill = async (client, key, text) => {
  const [lease, temporary, token] = [`${key}:lease`, `${key}:temporary`, randomUUID()]
  await client.get(key)
  await client.evalSha(digest(GRANT), { keys: [key, lease], arguments: [token, String(HOUR)] })
  const commit = { keys: [key, lease, temporary], arguments: [token] }
  return await Promise.all([set(client, temporary, text), client.evalSha(digest(COMMIT), commit)])
}

function digest(script: string): string {
  return createHash('sha1').update(script).digest('hex')
}

const byHand: Readonly<Record<string, Fill>> = { [SET]: set, [LEASED]: setLeased, [FENCED]: setFenced }
