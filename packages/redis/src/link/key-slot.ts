/** The number of slots of a cluster. */
export const SLOTS = 16_384
const POLYNOMIAL = 0x1021

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc & 0x8000 ? POLYNOMIAL : 0)
  return crc
})

/**
 * The slot of a key with a non-empty hash tag, by the Redis Cluster specification: the CRC16 (XMODEM) of the
 * text in the first braces, modulo 16384.
 */
export function keySlot(key: string): number {
  const bytes = Buffer.from(key.slice(key.indexOf('{') + 1, key.indexOf('}')), 'utf8')
  let crc = 0
  for (const byte of bytes) crc = ((crc << 8) ^ (table[((crc >> 8) ^ byte) & 0xff] ?? 0)) & 0xffff
  return crc % SLOTS
}
