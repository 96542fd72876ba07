import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisServer, startProcess, startRedis } from '../../packages/testkit/src/redis-server.ts'
import { freePort } from '../free-port.ts'
import { AFTER_A_KILL, BEFORE_A_KILL } from './promotion-delay.ts'
import { askRedis, untilRedis } from './redis-ask.ts'

const SENTINELS = 3
const QUORUM = 2

export interface StartRedisSentinelOptions {
  /** The name under which the sentinels know the master. Default: `'cattlegrid'`. */
  readonly name?: string | undefined
  /** Further arguments of the master and its replica. */
  readonly args?: readonly string[] | undefined
}

/** A master, its replica and three sentinels on this machine. All of them end when this process ends, even by SIGKILL. */
export interface RedisSentinelServers {
  /** The `name` for `createSentinel`. */
  readonly name: string
  /** The `sentinelRootNodes` for `createSentinel`. */
  readonly sentinelRootNodes: readonly { readonly host: string; readonly port: number }[]
  /** The server that started as master. */
  readonly master: RedisServer
  readonly replica: RedisServer
  /** Kills the master and waits for its exit. The replica is promoted about two seconds later; while the master only stalls, it keeps its place. */
  killMaster(): Promise<void>
  /** Waits until every sentinel names the replica as master and the replica accepts writes. */
  promoted(): Promise<void>
  /** Ends every server and removes its files. */
  stop(): Promise<void>
}

/** Starts the servers and waits until the replica follows the master and every sentinel knows the others and the replica. */
export async function startRedisSentinel(options: StartRedisSentinelOptions = {}): Promise<RedisSentinelServers> {
  const { name = 'cattlegrid', args = [] } = options
  const started: RedisServer[] = []
  const folder = mkdtempSync(join(tmpdir(), `cattlegrid-sentinel-${process.pid}-`))
  const begin = async (start: Promise<RedisServer>): Promise<RedisServer> => {
    const server = await start
    started.push(server)
    return server
  }
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const data = ['--dir', folder, '--repl-diskless-sync-delay', '0', ...args]
    const master = await begin(startRedis({ own: true, args: data }))
    const replicaOf = ['--replicaof', `127.0.0.1 ${master.port}`]
    const replica = await begin(startRedis({ own: true, args: [...data, ...replicaOf] }))
    const starts = Array.from({ length: SENTINELS }, () => begin(startSentinel(folder, name, master.port)))
    const sentinels = (await Promise.allSettled(starts)).flatMap((one) =>
      one.status === 'fulfilled' ? [one.value] : [],
    )
    await Promise.all(starts)
    await introduced(replica, sentinels)
    await promoteAfter(BEFORE_A_KILL, name, sentinels)
    return { name, master, replica, stop, ...failover(name, master, replica, sentinels) }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startSentinel(folder: string, name: string, master: number): Promise<RedisServer> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    const file = join(folder, `sentinel-${port}.conf`)
    const rules = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir "${folder}"`,
      `sentinel monitor ${name} 127.0.0.1 ${master} ${QUORUM}`,
      `sentinel down-after-milliseconds ${name} ${AFTER_A_KILL}`,
      `sentinel failover-timeout ${name} 5000`,
    ]
    // A sentinel rewrites its configuration file, so each gets its own.
    writeFileSync(file, `${rules.join('\n')}\n`)
    try {
      return await startProcess(port, [file, '--sentinel'], { readyWhen: '+monitor master' })
    } catch (error) {
      if (tries === 5) throw error
    }
  }
}

async function introduced(replica: RedisServer, sentinels: readonly RedisServer[]): Promise<void> {
  await untilRedis(replica.port, 'INFO replication', (answer) => answer.includes('master_link_status:up'))
  const complete = `status=ok,address=127.0.0.1:`
  await Promise.all(
    sentinels.map(({ port }) =>
      untilRedis(
        port,
        'INFO sentinel',
        (answer) => answer.includes(complete) && answer.includes(`slaves=1,sentinels=${SENTINELS}`),
      ),
    ),
  )
}

async function promoteAfter(silence: number, name: string, sentinels: readonly RedisServer[]): Promise<void> {
  const command = `SENTINEL SET ${name} down-after-milliseconds ${silence}`
  await Promise.all(sentinels.map(({ port }) => askRedis(port, command)))
}

function failover(
  name: string,
  master: RedisServer,
  replica: RedisServer,
  sentinels: readonly RedisServer[],
): Pick<RedisSentinelServers, 'killMaster' | 'promoted' | 'sentinelRootNodes'> {
  return {
    sentinelRootNodes: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
    async killMaster() {
      await promoteAfter(AFTER_A_KILL, name, sentinels)
      await master.kill()
    },
    async promoted() {
      const named = `address=127.0.0.1:${replica.port}`
      await Promise.all(
        sentinels.map(({ port }) => untilRedis(port, 'INFO sentinel', (answer) => answer.includes(named))),
      )
      await untilRedis(replica.port, 'INFO replication', (answer) => answer.includes('role:master'))
    },
  }
}
