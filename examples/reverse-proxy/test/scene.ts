import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { createProxy } from '../src/proxy.ts'
import { ask, type RawAnswer, type RawRequest } from './raw-client.ts'
import { type Arrived, ScriptedOrigin, type Step } from './scripted-origin.ts'

/**
 * The proxy between a scripted origin and a client that writes bytes. A stored response ages when the test advances the runtime; `Date` comes
 * from the real clock.
 */
export interface Scene {
  readonly runtime: ManualRuntime
  readonly origin: ScriptedOrigin
  readonly port: number
  /** A new path, which the origin answers by these steps. */
  path(...steps: readonly Step[]): string
  ask(target: string, request?: RawRequest): Promise<RawAnswer>
  arrived(path: string): readonly Arrived[]
  /** Advances the cache's clock. */
  wait(seconds: number): Promise<void>
  close(): Promise<void>
}

export async function openScene(): Promise<Scene> {
  // The time of day is the real one, as in the `Date` field that the origin's Node adds.
  const runtime = Object.assign(createManualRuntime(), { timeOfDay: () => Date.now() })
  const origin = new ScriptedOrigin()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const proxy = createProxy(await origin.listen(), cache)
  const server = createServer(proxy.app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let paths = 0
  return {
    runtime,
    origin,
    port,
    path(...steps) {
      paths += 1
      origin.script(`/${paths}`, steps)
      return `/${paths}`
    },
    ask: (target, request) => ask(port, target, request),
    arrived: (path) => origin.arrived(path),
    wait: (seconds) => runtime.advance(seconds * 1000),
    async close() {
      server.close()
      server.closeAllConnections()
      proxy.close()
      await origin.close()
      const closed = cache.close({ drain: 1 })
      await runtime.advance(1000)
      await closed
    },
  }
}
