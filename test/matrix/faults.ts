import { startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts'
import type { Command } from './command.ts'
import { REDIS_NAME } from './lost-name.ts'

/** How the processes reach Redis: by a client that the store makes, or by one of their own with default options: of `redis` 6 (`client`), `redis` 5 or ioredis. */
export const VIAS = ['url', 'client', 'redis5', 'ioredis'] as const
export type Via = (typeof VIAS)[number]

type Everybody = (command: Command) => Promise<unknown>

/** A Redis in good health, and what is going to happen to it. */
interface Scene {
  readonly url: string
  /** `everybody`: tells every process something. */
  break(everybody: Everybody): Promise<unknown>
  heal(everybody: Everybody): Promise<unknown>
  stop(): Promise<unknown>
}

export interface MatrixFault {
  readonly name: string
  readonly title: string
  /** What the store still does meanwhile: no step, or reads only, or all of them in time, though late. */
  readonly answers: 'nothing' | 'reads' | 'everything'
  start(): Promise<Scene>
}

const onItself = (name: string, title: string, start: () => Promise<Scene>): MatrixFault => ({
  name,
  title,
  answers: 'nothing',
  start,
})

const onTheWay = (name: string, title: string, fault: Fault): MatrixFault => ({
  name,
  title,
  answers: 'nothing',
  async start() {
    const server = await startRedis({ own: true })
    const proxy = await startFaultProxy({ target: { port: server.port } })
    return {
      url: `redis://127.0.0.1:${proxy.port}`,
      break: () => proxy.inject(fault),
      heal: () => proxy.heal(),
      stop: () => proxy.close().then(() => server.stop()),
    }
  },
})

/** In the order in which the documents show them. */
export const FAULTS: readonly MatrixFault[] = [
  onItself('stopped', 'Redis stopped (SIGSTOP)', stopped),
  onItself('killed', 'Redis killed, and back empty', killed),
  onTheWay('black-hole', 'network swallows everything', { kind: 'black-hole' }),
  onTheWay('half-open', 'peer dead, connection open', { kind: 'half-open' }),
  onTheWay('reset', 'connections reset', { kind: 'reset' }),
  {
    ...onTheWay('latency-200', 'answers 200 ms late', { kind: 'latency', ms: 200, direction: 'to-client' }),
    answers: 'everything',
  },
  onTheWay('latency-2000', 'answers 2 s late', { kind: 'latency', ms: 2000, direction: 'to-client' }),
  { ...onItself('full', 'Redis full (noeviction)', full), answers: 'reads' },
  { ...onItself('replica', 'Redis is a read-only replica', replica), answers: 'reads' },
  onItself('password', 'password changed', password),
  onItself('name', 'name not resolved any more', lostName),
]

async function stopped(): Promise<Scene> {
  const server = await startRedis({ own: true })
  return {
    url: server.url,
    break: () => Promise.resolve(server.pause()),
    heal: () => Promise.resolve(server.resume()),
    stop: () => server.stop(),
  }
}

async function killed(): Promise<Scene> {
  let server = await startRedis({ own: true })
  return {
    url: server.url,
    break: () => server.kill(),
    async heal() {
      server = await startRedis({ port: server.port })
    },
    stop: () => server.stop(),
  }
}

type Send = (...command: readonly string[]) => Promise<unknown>

/** A server that is told what to do, over a connection that nothing here befalls. */
async function commanded(url: (port: number) => string, args: readonly string[] = []) {
  const server = await startRedis({ own: true, args })
  const admin = createClient({ url: url(server.port) })
  admin.on('error', () => {})
  await admin.connect()
  const send: Send = (...command) => admin.sendCommand(command)
  const stop = async (): Promise<void> => {
    admin.destroy()
    await server.stop()
  }
  return { url: url(server.port), port: server.port, send, stop }
}

const local = (port: number): string => `redis://127.0.0.1:${port}`

async function full(): Promise<Scene> {
  const { url, send, stop } = await commanded(local)
  return {
    url,
    break: () => send('CONFIG', 'SET', 'maxmemory', '1'),
    heal: () => send('CONFIG', 'SET', 'maxmemory', '0'),
    stop,
  }
}

async function replica(): Promise<Scene> {
  const { url, send, stop } = await commanded(local)
  return { url, break: () => send('REPLICAOF', '127.0.0.1', '1'), heal: () => send('REPLICAOF', 'NO', 'ONE'), stop }
}

/** Ends every connection but the one that says so. */
async function hangUp(send: Send): Promise<void> {
  for (const type of ['normal', 'pubsub']) await send('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes')
}

async function password(): Promise<Scene> {
  const { url, send, stop } = await commanded((port) => `redis://:first@127.0.0.1:${port}`, ['--requirepass', 'first'])
  return {
    url,
    async break() {
      await send('CONFIG', 'SET', 'requirepass', 'second')
      await hangUp(send)
    },
    heal: () => send('CONFIG', 'SET', 'requirepass', 'first'),
    stop,
  }
}

async function lostName(): Promise<Scene> {
  const { port, send, stop } = await commanded(local)
  return {
    url: `redis://${REDIS_NAME}:${port}`,
    // A connection that is open needs no name.
    break: (everybody) => everybody({ do: 'name', gone: true }).then(() => hangUp(send)),
    heal: (everybody) => everybody({ do: 'name', gone: false }),
    stop,
  }
}
