// What a cache costs an answer that it must not keep: the handler says that it is its client's alone.
import { type BenchOptions, chosen } from '../run/bench.ts'
import type { Findings } from '../run/result.ts'
import { figuresOf, interleave, ratio } from '../run/rounds.ts'
import { requestRate } from './rate.ts'
import type { StartApp } from './app-members.ts'
import type { Load } from './wrk.ts'

/** Ours, and the same app without a cache. */
const BARE: Readonly<Record<string, string>> = {
  'Express, cattlegrid': 'Express, sends a string',
  'Fastify, cattlegrid': 'Fastify, sends a string',
}
const NAMES = Object.entries(BARE).flat().toSorted()
const MOST_ROUNDS = 5

export async function privateTable(
  options: BenchOptions,
  load: Load,
  start: StartApp,
  redis: string,
): Promise<Findings> {
  const names = chosen(NAMES, options)
  const namespace = `private-${Math.random().toString(36).slice(2)}`
  const traits = { loadTime: 0, fails: false, ttl: 3_600_000, stale: 0, redis, namespace, isPrivate: true }
  const contenders = names.map((name) => ({
    name,
    measure: () => requestRate(name, { traits, load, start }, options.smoke),
  }))
  const seen = await interleave(contenders, Math.min(options.rounds, MOST_ROUNDS))
  return {
    tables: [
      {
        id: 'http-private',
        title: 'Answers that are their client’s alone: 10 KB, 64 connections at one URL, one process, Redis',
        columns: [
          { id: 'rate', title: 'requests/s', digits: 0 },
          { id: 'ratio', title: 'no cache = 1', digits: 2 },
          { id: 'cpu', title: 'server CPU, µs', digits: 0 },
        ],
        rows: names.map((name) => ({
          name,
          is: name in BARE ? 'ours' : 'floor',
          cells: {
            ...figuresOf(seen, name, ['rate', 'cpu']),
            ratio: ratio(seen, name, BARE[name] ?? name, 'rate'),
          },
        })),
      },
    ],
    targets: [],
  }
}
