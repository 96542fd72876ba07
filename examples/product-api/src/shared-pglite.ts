import { PGlite } from '@electric-sql/pglite'
import { setImmediate as nextTurn } from 'node:timers/promises'

// Parse, Bind, Describe, Execute, Close, Flush: a statement with parameters comes as several of them, up to a Sync.
const WITHIN_BATCH = new Set(Array.from('PBDECH', (letter) => letter.charCodeAt(0)))

/**
 * PGlite for many connections at once. It has one session, and the socket server hands it one message at a time, of whichever
 * connection is next, except inside a transaction. Two things are missing there under load:
 *
 * - A batch must not be broken up either, or the Bind of one connection meets the Parse of another.
 * - The sockets must be looked at between two batches. Else all that was read is worked off first, and since an event loop accepts
 *   one connection a turn, a client waits at the door for seconds.
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
