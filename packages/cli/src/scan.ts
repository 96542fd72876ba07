import type { Server } from '@cattlegrid/redis/internal'
import type { Connection } from './connection.ts'

const NAMES_PER_REPLY = '1000'

/** Some names in Redis, and the master that has them. */
export interface Page {
  readonly server: Server
  readonly names: readonly string[]
}

/**
 * All names in Redis, those of one master after those of the other; of a namespace, those of its entries. A name may come twice, and one whose slot moves
 * meanwhile may be missed.
 */
export async function* scan(connection: Connection, pattern: string | undefined): AsyncGenerator<Page> {
  const matching = pattern === undefined ? [] : ['MATCH', pattern]
  for (const server of await connection.ask(async (link) => link.masters())) {
    let cursor = '0'
    do {
      const args = ['SCAN', cursor, ...matching, 'COUNT', NAMES_PER_REPLY]
      const reply = await connection.ask(() => server.send(args, 'text'))
      const [next, names] = reply as readonly [string, readonly string[]]
      cursor = next
      yield { server, names }
    } while (cursor !== '0')
  }
}
