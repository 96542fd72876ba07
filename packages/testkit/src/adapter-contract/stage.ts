import { type Cache, type CacheOptions, createCache, memoryStore } from '@cattlegrid/core'
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

/** One server, one cache whose time stands still, and clients. */
export interface Stage {
  readonly runtime: ManualRuntime
  readonly cache: Cache
  ask(path: string, request?: Ask): Promise<Received>
  askExactly(target: string, request?: Ask): Promise<Received>
  askAndLeave(path: string): Leaver
  /** So many clients at once. */
  crowd(size: number, path: string, request?: (client: number) => Ask): Promise<readonly Received[]>
  /** Resolves once the cache has taken so many such steps. */
  seen(event: CountedEvent, times: number): Promise<void>
}

/** Builds the stage, plays, and takes it down whatever happened. */
export async function onStage(
  factory: AdapterFactory,
  routes: readonly ContractRoute[],
  play: (stage: Stage) => Promise<void>,
  options: CacheOptions = {},
): Promise<void> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }), ...options })
  try {
    const server = await factory(cache, routes)
    try {
      await play(stageOf(server, cache, runtime))
    } finally {
      await server.close()
    }
  } finally {
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

const COUNTED = ['hit', 'join', 'load', 'outcome', 'commit', 'cooling'] as const
type CountedEvent = (typeof COUNTED)[number]

function stageOf({ origin }: AdapterServer, cache: Cache, runtime: ManualRuntime): Stage {
  const counts = new Map<CountedEvent, number>()
  for (const event of COUNTED) cache.on(event, () => counts.set(event, (counts.get(event) ?? 0) + 1))
  return {
    runtime,
    cache,
    ask: (path, request) => ask(origin, path, request),
    askExactly: (target, request) => askExactly(origin, target, request),
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
