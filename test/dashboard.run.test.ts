import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import express from 'express'
import { Registry } from 'prom-client'
import { type Pair, pairOfCaches, playEveryOutcome } from '../packages/metrics/test/support/every-outcome.ts'
import { type Prometheus, startPrometheus } from './support/prometheus.ts'

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

interface Rule {
  readonly name: string
  readonly state: string
  readonly health: string
  readonly query: string
}

const FOLDER = resolve('packages/metrics/grafana')
const { panels } = JSON.parse(readFileSync(`${FOLDER}/dashboard.json`, 'utf8')) as { readonly panels: readonly Panel[] }
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const))

const register = new Registry()
let pair: Pair
let server: Server
let prometheus: Prometheus

beforeAll(async () => {
  pair = pairOfCaches()
  prometheusMetrics(pair.cache, { register })
  const cache = createCache({ name: 'shop', ttl: '30s', maxLoads: 'auto' })
  prometheusMetrics(cache, { register })
  const app = express()
  app.get('/metrics', async (_req, res) => void res.type(register.contentType).send(await register.metrics()))
  app.get('/products', expressCache(cache)({ ttl: '30s', audit: { rate: 1 } }), (_req, res) => void res.json([]))
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`
  prometheus = await startPrometheus(target, `${FOLDER}/alerts.yml`)
  await scraped(2)
  await playEveryOutcome(pair)
  // More loads at once than the first limit.
  await Promise.all(Array.from({ length: 40 }, (_, place) => cache.getOrSet(`key-${place}`, () => sleep(10, 'value'))))
  for (let turn = 0; turn < 3; turn += 1) await (await fetch(`http://${target}/products`)).arrayBuffer()
  await scraped((await scrapes()) + 3)
}, 300_000)

afterAll(async () => {
  await prometheus?.stop()
  server?.closeAllConnections()
  server?.close()
})

async function resultOf(query: string): Promise<readonly { readonly value: readonly [number, string] }[]> {
  const { result } = (await prometheus.ask(`query?query=${encodeURIComponent(query)}`)) as {
    readonly result: readonly { readonly value: readonly [number, string] }[]
  }
  return result
}

/** How often Prometheus has read the metrics. */
async function scrapes(): Promise<number> {
  const [one] = await resultOf('count_over_time(up[1h])')
  return Number(one?.value[1] ?? 0)
}

async function scraped(times: number): Promise<void> {
  while ((await scrapes()) < times) await sleep(200)
}

async function rules(): Promise<readonly Rule[]> {
  const { groups } = (await prometheus.ask('rules')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[]
  }
  return groups.flatMap((group) => group.rules)
}

test.each(queries)('the panel “%s” gets series by %s', async (_title, expr) => {
  const query = expr.replaceAll('$cache', '.*').replaceAll('$__rate_interval', '1m')
  expect(query).not.toContain('$')
  expect((await resultOf(query)).length).toBeGreaterThan(0)
})

test('every metric that an alert asks for is exported, and every alert can be evaluated', async () => {
  const exported = await register.metrics()
  const all = await rules()
  expect(all.length).toBeGreaterThan(5)
  for (const { name, health, query } of all) {
    expect([name, health]).toEqual([name, 'ok'])
    const asked = query.match(/cattlegrid_\w+/g) ?? []
    expect(asked.filter((metric) => !new RegExp(`^${metric}\\b`, 'm').test(exported))).toEqual([])
  }
})

test('a violation and a store that is away raise their alerts, and nothing raises those of what has not happened', async () => {
  const raised = (await rules()).filter(({ state }) => state !== 'inactive').map(({ name }) => name)
  expect(raised).toContain('CattlegridViolation')
  expect(raised).toContain('CattlegridStoreAway')
  expect(raised).not.toContain('CattlegridNoticesLost')
})
