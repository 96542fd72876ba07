// The first answers of a process that has just started: its clients connect, and then all ask at once for an entry that is stale.
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '@cattlegrid/testkit'
import type { OriginTraits } from './http/origin.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { type Member, startMember } from './run/member.ts'
import type { Findings } from './run/result.ts'
import { figuresOf, interleave, ratio } from './run/rounds.ts'

const CLIENTS = 500
const FEW = 20
const TTL = 100
const PATH = '/thing/1'
/** Of the bare app’s p99. */
const MOST = 1.5

/** Each that answers from Redis, and the same app without a cache. */
const BARE: Readonly<Record<string, string>> = {
  'Express, cattlegrid': 'Express, sends a string',
  'Express, one run told by a push': 'Express, sends a string',
  'Fastify, cattlegrid': 'Fastify, sends a string',
  'Fastify, one run told by a push': 'Fastify, sends a string',
}
const NAMES = [...new Set(Object.entries(BARE).flat())].toSorted()
const isOurs = (name: string): boolean => name.endsWith('cattlegrid')

await runBench('start', (options) => withCleanup((later) => measureStarts(options, later)))

async function measureStarts(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const clients = await startMember('http/herd-member.js')
  later(() => clients.stop())
  const traits = { loadTime: 0, fails: false, ttl: TTL, stale: 3_600_000, redis: server.url, namespace: 'start' }
  const names = chosen(NAMES, options)
  const count = options.smoke ? FEW : CLIENTS
  // Fills the store, and warms the clients up.
  for (const name of names.filter((one) => one in BARE)) await firstAnswers(name, traits, clients, count)
  const contenders = names.map((name) => ({ name, measure: () => firstAnswers(name, traits, clients, count) }))
  const seen = await interleave(contenders, options.rounds)
  const compared = names.filter((name) => seen.has(BARE[name] ?? ''))
  return {
    tables: [
      {
        id: 'first',
        title: `The first ${CLIENTS} requests of a new process, all at once, for one stale entry in Redis: 10 KB`,
        columns: [
          { id: 'p50', title: 'p50, ms', digits: 0 },
          { id: 'p99', title: 'p99, ms', digits: 0 },
          { id: 'ratio', title: 'p99, bare app = 1', digits: 2 },
          { id: 'cpu', title: 'CPU of the process, ms', digits: 0 },
        ],
        rows: names.map((name) => ({
          name,
          is: isOurs(name) ? 'ours' : 'floor',
          cells: {
            ...figuresOf(seen, name, ['p50', 'p99', 'cpu']),
            ratio: compared.includes(name) ? ratio(seen, name, BARE[name] ?? '', 'p99') : '',
          },
        })),
      },
    ],
    targets: compared.filter(isOurs).map((name) => ({
      what: `The first ${CLIENTS} stale answers of a new process: ${name}, against the bare app`,
      op: '<=',
      wanted: MOST,
      got: ratio(seen, name, BARE[name] ?? '', 'p99'),
      unit: '× its p99',
    })),
  }
}

async function firstAnswers(
  name: string,
  traits: OriginTraits,
  clients: Member,
  count: number,
): Promise<Readonly<Record<string, number>>> {
  return await withCleanup(async (later) => {
    const member = await startMember('http/member.js')
    later(() => member.stop())
    // Each app has entries of its own, filled by the process before this one.
    const port = await member.ask<number>('open', name, { ...traits, namespace: `start-${name.replaceAll(/\W/g, '')}` })
    await sleep(2 * TTL)
    const before = member.cpu()
    const times = await clients.ask<Record<string, number>>('first', port, PATH, count)
    return { ...times, cpu: member.cpu() - before }
  })
}
