import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Cache, type CacheOptions, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import express from 'express'
import express4 from 'express4'
import { expressShop } from './express-shop.ts'
import { fastifyShop } from './fastify-shop.ts'
import { type Answer, type Ask, ask, Connection } from './raw-client.ts'
import type { Page, ShopOptions } from './shop.ts'
import { until } from '../support/until.ts'

export { until }

/** The frameworks that every attack is tried on. */
export const FRAMEWORKS = ['Express 5', 'Express 4', 'Fastify 5'] as const
export type Framework = (typeof FRAMEWORKS)[number]

type Shop = (cache: Cache, pages: readonly Page[], options: ShopOptions) => Promise<Server>

const SHOPS: Readonly<Record<Framework, Shop>> = {
  'Express 5': expressShop(express, '{*rest}'),
  'Express 4': expressShop(express4, '*'),
  'Fastify 5': fastifyShop,
}

/** A running shop. */
export interface Stage {
  readonly port: number
  readonly cache: Cache
  readonly runtime: ManualRuntime
  ask(request: Ask | string): Promise<Answer>
  /** A GET of an ordinary client. */
  get(target: string): Promise<Answer>
  open(): Promise<Connection>
  /** Resolves once every client has hung up. */
  deserted(): Promise<void>
  /** How often the cache took such a step. */
  count(step: CountedStep): number
  seen(step: CountedStep, times: number): Promise<void>
}

const COUNTED = ['hit', 'join', 'load', 'outcome', 'commit'] as const
type CountedStep = (typeof COUNTED)[number]

/** Opens the shop, plays, and closes it whatever happened. Time stands still unless the play moves it. */
export async function onStage(
  framework: Framework,
  pages: readonly Page[],
  play: (stage: Stage) => Promise<void>,
  { cache: options, ...shop }: Partial<ShopOptions> & { readonly cache?: CacheOptions } = {},
): Promise<void> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }), ...options })
  const server = await SHOPS[framework](cache, pages, { trust: false, ...shop })
  try {
    await play(stageOf(server, cache, runtime))
  } finally {
    await closed(server)
    const end = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await end
  }
}

/** Opens a shop on a cache of the test's own. */
export function openShop(framework: Framework, cache: Cache, pages: readonly Page[]): Promise<Server> {
  return SHOPS[framework](cache, pages, { trust: false })
}

export async function closed(server: Server): Promise<void> {
  const end = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await end
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}

function stageOf(server: Server, cache: Cache, runtime: ManualRuntime): Stage {
  const port = portOf(server)
  const counts = countsOf(cache)
  return {
    port,
    cache,
    runtime,
    ask: (request) => ask(port, request),
    get: (target) => ask(port, { target }),
    open: () => Connection.open(port),
    deserted: () => until(async () => (await connectionsOf(server)) === 0),
    count: counts,
    seen: (step, times) =>
      until(
        () => counts(step) >= times,
        () => `${step}: ${counts(step)} of ${times}`,
      ),
  }
}

export function countsOf(cache: Cache): (step: CountedStep) => number {
  const counts = new Map<CountedStep, number>()
  for (const step of COUNTED) cache.on(step, () => counts.set(step, (counts.get(step) ?? 0) + 1))
  return (step) => counts.get(step) ?? 0
}

/** Holds handlers back until it is opened. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
