import { type Codec, json, raw, structured } from '@cattlegrid/core'
import type { Entry, Inspection } from '@cattlegrid/core/extend'
import { entryOf, expiryOf } from './entries/decode-entry.ts'
import { decodeRecord } from './entries/record.ts'
import { inspectLease } from './leases/lease-value.ts'
import type { Link } from './link/link.ts'
import { serverTime } from './lua/server-clock.ts'
import type { RedisKeys } from './redis-keys.ts'

const builtInCodecs: readonly Codec[] = [json, structured, raw]

/**
 * Returns the entry, lease and cooldown of a key. A value of a codec that is neither built in nor among
 * `codecs` is returned as its bytes. Rejects with the error of Redis or the client.
 */
export async function inspectKey(
  link: Link,
  redisKeys: RedisKeys,
  key: string,
  sentAt: number,
  codecs: readonly Codec[] = [],
): Promise<Inspection> {
  const entryName = redisKeys.entry(key)
  const send = (...args: readonly string[]): Promise<unknown> => link.send(entryName, args, 'text')
  const [left, bytes, leaseLeft, lease, time] = await Promise.all([
    send('PTTL', entryName),
    link.send(entryName, ['GET', entryName], 'bytes'),
    send('PTTL', redisKeys.lease(key)),
    send('GET', redisKeys.lease(key)),
    send('TIME'),
  ])
  const value = typeof lease === 'string' ? lease : ''
  const entry = Buffer.isBuffer(bytes) ? inspectEntry(bytes, Number(left), sentAt, codecs) : undefined
  return { kind: 'found', entry, ...inspectLease(value, Number(leaseLeft), serverTime(time)) }
}

function inspectEntry(bytes: Buffer, left: number, sentAt: number, codecs: readonly Codec[]): Entry | undefined {
  const record = decodeRecord(bytes)
  if (record === undefined) return undefined
  const codec = [...builtInCodecs, ...codecs].find(({ id }) => id === record.codecId) ?? raw
  const expiry = expiryOf(record, left, sentAt)
  try {
    return entryOf(record, codec.decode(record.body), record.body, expiry)
  } catch {
    return entryOf(record, record.body, record.body, expiry)
  }
}
