import type { Server } from '../link/client.ts'
import { decodeHead, type RecordHead } from './record.ts'

/** The replies to PTTL and GET at an entry's key. */
export interface FetchedEntry {
  /** When the commands were sent. Expiry counts from here, so that it is never too late. */
  readonly sentAt: number
  /** The reply to PTTL. */
  readonly left: number
  readonly reply: unknown
  /** The reply to GET, if it is bytes. */
  readonly bytes: Buffer | undefined
  /** Undefined if the bytes are no record of this format. */
  readonly head: RecordHead | undefined
}

/**
 * Sends PTTL before GET, in one write. In the opposite order, the old body could get the time to live of a new entry:
 *
 * 1. A reads the bytes: the old body           2. B commits a new body, fresh for its whole ttl
 * 3. A reads the time to live: that of B's     4. A would serve the old body as fresh
 */
export function fetchEntry(server: Server, name: string, sentAt: number): Promise<FetchedEntry> {
  const time = server.send(['PTTL', name], 'text')
  const entry = server.send(['GET', name], 'bytes')
  return Promise.all([time, entry]).then(([left, reply]) => {
    const bytes = bufferOf(reply)
    return { sentAt, left: Number(left), reply, bytes, head: bytes && decodeHead(bytes) }
  })
}

export function bufferOf(reply: unknown): Buffer | undefined {
  if (Buffer.isBuffer(reply)) return reply
  return reply instanceof Uint8Array ? Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength) : undefined
}

/** True if the time to live and the bytes cannot belong to one entry: another process wrote between the two commands. */
export function isMixed({ left, bytes, head }: FetchedEntry): boolean {
  return bytes !== undefined && (left === -2 || left > (head?.keepFor ?? Infinity))
}
