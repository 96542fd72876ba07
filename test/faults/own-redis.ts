import { type RedisServer, type StartRedisOptions, startRedis } from '@cattlegrid/testkit'
import { Fleet, type FleetOptions } from '../fleet/fleet.ts'

/** A fleet, and a Redis of its own to break. */
export class OwnRedis {
  readonly fleet: Fleet
  #server: RedisServer

  private constructor(fleet: Fleet, server: RedisServer) {
    this.fleet = fleet
    this.#server = server
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
    await this.#server.stop()
  }
}
