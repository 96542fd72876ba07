import { type RedisServer, type StartRedisOptions, startRedis } from '@cattlegrid/testkit'
import { Fleet, type FleetOptions } from '../fleet/fleet.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'

/** Where the entries of a fleet are. */
export const PLACES = ['one Redis', 'a cluster'] as const
export type Place = (typeof PLACES)[number]

/** A fleet, and a Redis of its own to break. */
export class OwnRedis {
  readonly fleet: Fleet
  #server: RedisServer
  readonly #stop: () => Promise<void>

  private constructor(fleet: Fleet, server: RedisServer, stop: () => Promise<void> = () => this.#server.stop()) {
    this.fleet = fleet
    this.#server = server
    this.#stop = stop
  }

  static async start(fleet: FleetOptions, redis: StartRedisOptions = {}): Promise<OwnRedis> {
    const server = await startRedis({ ...redis, own: true })
    try {
      return new OwnRedis(await Fleet.start({ ...fleet, url: server.url }), server)
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  static async startAt(place: Place, fleet: FleetOptions): Promise<OwnRedis> {
    if (place === 'one Redis') return await OwnRedis.start(fleet)
    // The nodes that answer go on to serve their slots.
    const cluster = await startRedisCluster({ replicas: 0, args: ['--cluster-require-full-coverage', 'no'] })
    const { rootNodes, masters } = cluster
    try {
      const [server] = masters
      if (server === undefined) throw new Error('The cluster has no masters')
      const members = await Fleet.start({ ...fleet, url: server.url, rootNodes })
      return new OwnRedis(members, server, () => cluster.stop())
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  /** In a cluster: the node for which `fleet.keyAt` has names. */
  get server(): RedisServer {
    return this.#server
  }

  /** Another server at the address of the one that was killed: it knows nothing. */
  async startAgain(): Promise<void> {
    this.#server = await startRedis({ port: this.#server.port })
  }

  /** One number of INFO. */
  async count(section: string, field: RegExp): Promise<number> {
    return Number(field.exec(await this.fleet.redis.info(section))?.[1] ?? 0)
  }

  async stop(): Promise<void> {
    await this.fleet.stop()
    await this.#stop()
  }
}
