import { createClient } from 'redis'

/** Looks at a server from a connection of its own. */
export interface RedisMeter {
  /** CPU that the server has used so far, ms. */
  cpu(): Promise<number>
  /** How often each command was called since the last `forget`, by its name in lower case; our own look is not counted. */
  calls(): Promise<ReadonlyMap<string, number>>
  forget(): Promise<void>
  /** How many commands clients send during `work`; what scripts call inside the server is none. Slows the server down. */
  sent(work: () => Promise<unknown>): Promise<number>
  /** Empties the server. */
  flush(): Promise<void>
  close(): Promise<void>
}

const OWN = new Set([
  'info',
  'config|resetstat',
  'config',
  'hello',
  'client|setinfo',
  'client',
  'flushall',
  'subscribe',
  'command|info',
])

export async function meter(url: string): Promise<RedisMeter> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return {
    async cpu() {
      const said = await client.info('cpu')
      const seconds = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(said)?.[1])
      return (seconds('used_cpu_sys') + seconds('used_cpu_user')) * 1000
    },
    async calls() {
      const said = await client.info('commandstats')
      const counted = Array.from(
        said.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm),
        ([, name = '', calls]) => [name, Number(calls)] as const,
      )
      return new Map(counted.filter(([name]) => !OWN.has(name)))
    },
    async forget() {
      await client.configResetStat()
    },
    async sent(work) {
      const ear = client.duplicate()
      ear.on('error', () => {})
      await ear.connect()
      let count = 0
      // A line is `time [db address] "command" …`; the address of what a script calls is `lua`.
      await ear.monitor((line) => {
        if (!/^\S+ \[\d+ lua\]/.test(line) && !OWN.has(commandIn(line))) count += 1
      })
      await work()
      ear.destroy()
      return count
    },
    async flush() {
      await client.flushAll()
    },
    async close() {
      await client.close()
    },
  }
}

export function total(calls: ReadonlyMap<string, number>): number {
  return [...calls.values()].reduce((sum, count) => sum + count, 0)
}

function commandIn(line: string): string {
  return (/\] "(\w+)"/.exec(line)?.[1] ?? '').toLowerCase()
}
