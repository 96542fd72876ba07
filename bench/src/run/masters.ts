import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import type { Later } from './cleanup.ts'

const SLOTS = 16_384
const TRIES = 200

/** Starts a cluster of three masters without replicas. */
export async function startMasters(later: Later): Promise<readonly RedisServer[]> {
  const folder = mkdtempSync(join(tmpdir(), `cattlegrid-bench-${process.pid}-`))
  later(() => rmSync(folder, { recursive: true, force: true }))
  const masters: RedisServer[] = []
  for (let place = 0; place < 3; place += 1) {
    const files = ['--dir', folder, '--cluster-config-file', `nodes-${place}.conf`]
    const master = await startRedis({ args: ['--cluster-enabled', 'yes', ...files] })
    later(() => master.stop())
    masters.push(master)
  }
  const clients = await Promise.all(masters.map(({ url }) => createClient({ url }).connect()))
  for (const [place, client] of clients.entries()) {
    const border = (count: number): string => String(Math.floor((count * SLOTS) / masters.length))
    await client.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(place + 1)])
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', border(place), String(Number(border(place + 1)) - 1)])
    if (place > 0) await clients[0]?.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(masters[place]?.port)])
  }
  for (let tries = 0; tries < TRIES; tries += 1) {
    const infos = await Promise.all(clients.map((client) => client.sendCommand<string>(['CLUSTER', 'INFO'])))
    if (infos.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3'))) break
    await sleep(100)
  }
  for (const client of clients) client.destroy()
  return masters
}
