import type { RedisClient } from '@cattlegrid/redis'
import { luaSources } from '../../src/lua/sources.generated.ts'
import { script } from '../../src/lua/run-script.ts'

type Args = Parameters<RedisClient['sendCommand']>[0]

/** What a test does to a command on its way: forwards it, sooner or later, or does not. */
export type Hook = (what: string, forward: () => Promise<unknown>, args: Args) => Promise<unknown>

const names = new Map(Object.entries(luaSources).map(([name, source]) => [script(source).sha, name]))

/** `get`, `pttl`, …, or the name of the script that is run. */
function what([command = '', sha = '']: Args): string {
  const name = String(command).toLowerCase()
  return name === 'evalsha' ? (names.get(String(sha)) ?? 'an unknown script') : name
}

/** A client of the user's whose commands a test can hold, follow or drop: the faults between a process and its Redis. */
export function tap(client: RedisClient, hook: Hook): RedisClient {
  return {
    get isOpen() {
      return client.isOpen
    },
    get isReady() {
      return client.isReady
    },
    sendCommand: (args, options) => hook(what(args), () => client.sendCommand(args, options), args),
    duplicate: () => client.duplicate(),
    connect: () => client.connect(),
    subscribe: (channel, listener) => client.subscribe(channel, listener),
    destroy: () => client.destroy(),
    close: () => client.close(),
    unref: () => client.unref(),
    on: (event, listener) => client.on(event, listener),
    off: (event, listener) => client.off(event, listener),
  }
}
