// A server of its own: one app, its origin's counter, and nothing else.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Member, serveAsMember, startMember } from '../run/member.ts'
import { expressApps, expressHerdFloors, expressLoadFloors, expressRefreshFloors } from './express-apps.ts'
import { fastifyApps, fastifyHerdFloors, fastifyLoadFloors, fastifyRefreshFloors } from './fastify-apps.ts'
import { Origin, type OriginTraits } from './origin.ts'

const apps = {
  ...expressApps,
  ...fastifyApps,
  ...expressLoadFloors,
  ...fastifyLoadFloors,
  ...expressHerdFloors,
  ...fastifyHerdFloors,
  ...expressRefreshFloors,
  ...fastifyRefreshFloors,
}

let server: Server | undefined
let origin: Origin | undefined
let started: Promise<Member> | undefined

/** Asks from a process of its own, and is as warm as what it asks; ends with this one. */
function warmClient(): Promise<Member> {
  started ??= startMember('http/herd-member.js')
  return started
}

serveAsMember({
  /** Listens with this app instead of what was there; answers with its port. */
  async open(name: string, traits: OriginTraits) {
    server?.closeAllConnections()
    server?.close()
    origin = new Origin(traits)
    server = await apps[name]?.(origin)
    if (server === undefined) throw new Error(`there is no app called ${name}`)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  },
  /** Answers requests of a client in another process for so long; what one of them costs here, ns. */
  async requests(path: string, duration: number) {
    const client = await warmClient()
    const { port } = (server as Server).address() as AddressInfo
    const cpu = process.cpuUsage()
    const seconds = duration < 1000 ? 0 : Math.round(duration / 1000)
    const { count } = await client.ask<{ count: number }>('load', `http://127.0.0.1:${port}${path}`, 64, seconds)
    const { user, system } = process.cpuUsage(cpu)
    return { cpu: ((user + system) * 1000) / count }
  },
  /** Answers so many requests, each for another entry that has become stale meanwhile: refreshes a second, and what one with its answer costs here, ns. */
  async refreshes(prefix: string, count: number) {
    const client = await warmClient()
    const { port } = (server as Server).address() as AddressInfo
    await sleep(2 * (origin?.traits.ttl ?? 0))
    const before = origin?.runs ?? 0
    const cpu = process.cpuUsage()
    const took = await client.ask<number>('paths', port, prefix, count, 64)
    // The last ones go on behind the answers.
    await sleep(50)
    const { user, system } = process.cpuUsage(cpu)
    const refreshed = (origin?.runs ?? 0) - before
    return { rate: (refreshed / took) * 1000, cpu: ((user + system) * 1000) / refreshed }
  },
  /** Answers so many requests, each for another path: what one of them costs here, ns. */
  async loads(prefix: string, count: number) {
    const client = await warmClient()
    const { port } = (server as Server).address() as AddressInfo
    const cpu = process.cpuUsage()
    await client.ask('paths', port, prefix, count, 64)
    const { user, system } = process.cpuUsage(cpu)
    return { cpu: ((user + system) * 1000) / count }
  },
  /** From now on the handler takes so long, ms. */
  takes(loadTime: number) {
    if (origin !== undefined) origin.loadTime = loadTime
  },
  /** How often the handler ran. */
  runs: () => origin?.runs,
})
