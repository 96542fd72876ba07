import { PGlite } from '@electric-sql/pglite'
import { setImmediate as nextTurn } from 'node:timers/promises'

// Parse, Bind, Describe, Execute, Close, Flush: a statement with parameters is several of these messages, up to a Sync.
const WITHIN_BATCH = new Set(Array.from('PBDECH', (letter) => letter.charCodeAt(0)))

/**
 * PGlite for many concurrent connections. It has one session. The socket server passes it one message at a time, from any
 * connection, except inside a transaction. Under load that needs two additions:
 *
 * - The messages of a batch must stay together, or the Bind of one connection follows the Parse of another.
 * - The event loop must turn between two batches. It accepts one connection a turn, so without that a client waits for seconds to
 *   be accepted.
 */
export class SharedPGlite extends PGlite {
  #inBatch = false

  override isInTransaction(): boolean {
    return this.#inBatch || super.isInTransaction()
  }

  override async execProtocolRawStream(...args: Parameters<PGlite['execProtocolRawStream']>): Promise<void> {
    if (!this.#inBatch) await nextTurn()
    this.#inBatch = WITHIN_BATCH.has(args[0][0] ?? 0)
    await super.execProtocolRawStream(...args)
  }
}
