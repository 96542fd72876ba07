import { type Cache, type CacheOptions, createCache, memoryStore, type Store, systemRuntime } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '../manual-runtime.ts'
import { type Ask, ask, askAndLeave, askExactly, type Leaver, type Received, until } from './client.ts'
import type { ContractRoute } from './contract-route.ts'

/** A server that listens on a free port of the loopback interface. */
export interface AdapterServer {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  /** Ends it at once, open connections too. */
  close(): Promise<void>
}

/**
 * Starts a real server that answers these routes with the adapter under test in front of them. The framework trusts `X-Forwarded-Proto`.
 * What the adapter throws for a route is the factory's rejection.
 */
export type AdapterFactory = (cache: Cache, routes: readonly ContractRoute[]) => Promise<AdapterServer>

/** A store with a clock of its own, such as a server's: nothing but the tests that move no time are asked. */
export interface ContractStore {
  readonly store: Store
  close(): Promise<void>
}

/** What a stage is built of. */
export interface AdapterStage {
  readonly start: AdapterFactory
  /** Opens a store for one test. Default: a memory store whose time stands still. */
  readonly openStore: (() => Promise<ContractStore>) | undefined
}

/** One server, one cache whose time stands still, and clients. */
export interface Stage {
  readonly runtime: ManualRuntime
  readonly cache: Cache
  readonly origin: string
  ask(path: string, request?: Ask): Promise<Received>
  askExactly(target: string, request?: Ask): Promise<Received>
  /** Asks another server than the stage's own. */
  askElsewhere(origin: string, path: string, request?: Ask): Promise<Received>
  askAndLeave(path: string): Leaver
  /** So many clients at once. */
  crowd(size: number, path: string, request?: (client: number) => Ask): Promise<readonly Received[]>
  /** Resolves once the cache has taken so many such steps. */
  seen(event: CountedEvent, times: number): Promise<void>
}

/** Builds the stage, plays, and takes it down whatever happened. */
export async function onStage(
  { start, openStore }: AdapterStage,
  routes: readonly ContractRoute[],
  play: (stage: Stage) => Promise<void>,
  options: CacheOptions = {},
): Promise<void> {
  // The time of day is the machine's, as in the fields that Node makes.
  const runtime = Object.assign(createManualRuntime(), { timeOfDay: systemRuntime.timeOfDay })
  const opened = await openStore?.()
  const setting = opened === undefined ? { runtime, store: memoryStore({ runtime }) } : remote(opened.store)
  const cache = createCache({ ...setting, ...options })
  try {
    const server = await start(cache, routes)
    try {
      await play(stageOf(server, cache, runtime))
    } finally {
      await server.close()
    }
  } finally {
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
    await opened?.close()
  }
}

/** A busy machine must not look like a store that is away. */
function remote(store: Store): CacheOptions {
  return { store, storeTimeout: '20s', outage: false, maxEntryBytes: '32mb' }
}

const COUNTED = ['hit', 'join', 'load', 'outcome', 'commit', 'cooling'] as const
type CountedEvent = (typeof COUNTED)[number]

function stageOf({ origin }: AdapterServer, cache: Cache, runtime: ManualRuntime): Stage {
  const counts = new Map<CountedEvent, number>()
  for (const event of COUNTED) cache.on(event, () => counts.set(event, (counts.get(event) ?? 0) + 1))
  return {
    runtime,
    cache,
    origin,
    ask: (path, request) => ask(origin, path, request),
    askExactly: (target, request) => askExactly(origin, target, request),
    askElsewhere: ask,
    askAndLeave: (path) => askAndLeave(origin, path),
    crowd: (size, path, request = () => ({})) =>
      Promise.all(Array.from({ length: size }, (_, client) => ask(origin, path, request(client)))),
    seen: (event, times) => until(`${times} × ${event}`, () => (counts.get(event) ?? 0) >= times),
  }
}

/** Holds handlers back until it is opened. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

export function createGate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
