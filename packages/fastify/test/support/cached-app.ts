import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { until } from '../../../../test/support/until.ts'
import cattlegrid from '../../src/index.ts'

/** An app with the plugin, and a cache whose time stands still. */
export interface CachedApp {
  readonly app: FastifyInstance
  readonly cache: Cache
  readonly runtime: ManualRuntime
  /** The bodies of one request after another. */
  bodies(url: string, times: number): Promise<readonly string[]>
}

/** Sets an app up, plays with it, and takes it down. `early` is done before the plugin is registered. */
export async function withApp(
  play: (stage: CachedApp) => Promise<void>,
  {
    early,
    server,
  }: { readonly early?: (app: FastifyInstance) => unknown; readonly server?: FastifyServerOptions } = {},
): Promise<void> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const app = Fastify({ forceCloseConnections: true, ...server })
  await early?.(app)
  const bodies = async (url: string, times: number): Promise<readonly string[]> => {
    const all: string[] = []
    for (let turn = 0; turn < times; turn += 1) all.push((await app.inject(url)).body)
    return all
  }
  try {
    await app.register(cattlegrid, { cache, close: false })
    await play({ app, cache, runtime, bodies })
  } finally {
    await app.close()
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

export const cache = { ttl: '10s' } as const

/** Lets the app listen; returns its port. */
export async function listen(app: FastifyInstance): Promise<number> {
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}

const COUNTED = ['load', 'join', 'commit', 'outcome'] as const

/** How often the cache took such a step, and the wait until it has. */
export interface Steps {
  count(step: (typeof COUNTED)[number]): number
  seen(step: (typeof COUNTED)[number], times: number): Promise<void>
}

export function stepsOf(watched: Cache): Steps {
  const counts = { load: 0, join: 0, commit: 0, outcome: 0 }
  for (const name of COUNTED)
    watched.on(name, () => {
      counts[name] += 1
    })
  return {
    count: (step) => counts[step],
    seen: (step, times) =>
      until(
        () => counts[step] >= times,
        () => `${step}: ${counts[step]} of ${times}`,
      ),
  }
}

/** A handler's own count of its runs. */
export function counter(): { readonly next: () => string; readonly runs: number } {
  let runs = 0
  return {
    next: () => `run ${++runs}`,
    get runs() {
      return runs
    },
  }
}

/** A promise and its key. */
export function lock(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Turns of the event loop, enough for whatever was under way to come to rest. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
}
