import { type Cache, type CacheOptions, createCache, memoryStore, type Store } from '@cattlegrid/core'
import { systemRuntime } from '@cattlegrid/core/extend'
import { createManualRuntime, type ManualRuntime } from '../manual-runtime.ts'
import { type Ask, ask, askAndLeave, type Leaver, type Received, until } from './client.ts'
import type { ContractRoute } from './contract-route.ts'

/** A server that listens on a free port of the loopback interface. */
export interface AdapterServer {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string
  /** Ends the server at once, and its open connections with it. */
  close(): Promise<void>
}

/**
 * Starts a real server with these routes, each behind the adapter under test. The framework must trust
 * `X-Forwarded-Proto`. If the adapter throws for a route, the factory rejects with that error.
 */
export type AdapterFactory = (cache: Cache, routes: readonly ContractRoute[]) => Promise<AdapterServer>

/** A store whose server has its own clock. The tests that move the clock do not run on it. */
export interface ContractStore {
  readonly store: Store
  close(): Promise<void>
}

/** The adapter under test, and the store under it. */
export interface AdapterStage {
  readonly start: AdapterFactory
  /** Opens a store for one test. Default: a memory store on a manual clock. */
  readonly openStore: (() => Promise<ContractStore>) | undefined
}

/** One server, one cache on a manual clock, and clients. */
export interface Stage {
  readonly runtime: ManualRuntime
  readonly cache: Cache
  readonly origin: string
  /** Sends a request, its target exactly as given. */
  ask(target: string, request?: Ask): Promise<Received>
  /** Sends a request to another server than the stage's own. */
  askElsewhere(origin: string, path: string, request?: Ask): Promise<Received>
  askAndLeave(path: string): Leaver
  /** Sends `size` requests at the same time. */
  crowd(size: number, path: string, request?: (client: number) => Ask): Promise<readonly Received[]>
  /** Resolves once the cache has emitted this event `times` times. */
  seen(event: CountedEvent, times: number): Promise<void>
}

/** Sets up a stage, runs `play` on it, and always tears it down. */
export async function onStage(
  { start, openStore }: AdapterStage,
  routes: readonly ContractRoute[],
  play: (stage: Stage) => Promise<void>,
  options: CacheOptions = {},
): Promise<void> {
  // The time of day must be the machine's: Node puts it into `Date`.
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

/** With a short timeout, a busy machine would look like a store that is away. */
function remote(store: Store): CacheOptions {
  return { store, storeTimeout: '20s', outage: false, maxEntryBytes: '32mb' }
}

const COUNTED = ['hit', 'miss', 'join', 'load', 'outcome', 'commit', 'cooling'] as const
type CountedEvent = (typeof COUNTED)[number]

function stageOf({ origin }: AdapterServer, cache: Cache, runtime: ManualRuntime): Stage {
  const counts = new Map<CountedEvent, number>()
  for (const event of COUNTED) cache.on(event, () => counts.set(event, (counts.get(event) ?? 0) + 1))
  return {
    runtime,
    cache,
    origin,
    ask: (target, request) => ask(origin, target, request),
    askElsewhere: ask,
    askAndLeave: (path) => askAndLeave(origin, path),
    crowd: (size, path, request = () => ({})) =>
      Promise.all(Array.from({ length: size }, (_, client) => ask(origin, path, request(client)))),
    seen: (event, times) => until(`${times} × ${event}`, () => (counts.get(event) ?? 0) >= times),
  }
}

/** Handlers wait on `opened` until the test calls `open`. */
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
