// What it costs the server to take in a large value, beside a plain SET.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import type { BenchOptions } from '../run/bench.ts'
import type { RedisMeter } from '../run/redis-meter.ts'
import type { Findings } from '../run/result.ts'
import { figureOf, interleave, ratio } from '../run/rounds.ts'
import type { Fleet } from './fleet.ts'

const BYTES = 256 * 1024
const HOUR = 3_600_000
const NAMES = ['cattlegrid', 'naive lock', 'plain SET']

export async function fillTable(url: string, fleet: Fleet, look: RedisMeter, options: BenchOptions): Promise<Findings> {
  const fills = options.smoke ? 5 : 200
  const contenders = NAMES.map((name) => ({
    name,
    measure: () => (name === 'plain SET' ? plain(url, look, fills) : through(name, fleet, look, fills)),
  }))
  const seen = await interleave(contenders, options.rounds)
  const cost = ratio(seen, 'cattlegrid', 'plain SET', 'server')
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
          is: name === 'cattlegrid' ? 'ours' : name === 'plain SET' ? 'floor' : 'peer',
          cells: { server: figureOf(seen, name, 'server'), ratio: ratio(seen, name, 'plain SET', 'server') },
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

async function plain(url: string, look: RedisMeter, fills: number): Promise<Record<string, number>> {
  const client = createClient({ url })
  await client.connect()
  const text = JSON.stringify({ key: 'fill-000', text: 'x'.repeat(BYTES) })
  const before = await look.cpu()
  for (let fill = 0; fill < fills; fill += 1)
    await client.set(`plain:fill-${fill}`, text, { expiration: { type: 'PX', value: HOUR } })
  await sleep(200)
  const server = ((await look.cpu()) - before) * 1000
  await client.close()
  await look.flush()
  return { server: server / fills }
}
