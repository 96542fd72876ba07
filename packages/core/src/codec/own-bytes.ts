/**
 * Returns a copy whose ArrayBuffer holds nothing else. Not from Node's pool, in which small buffers
 * share one.
 */
export function copyBytes(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}

/**
 * Returns bytes to keep: a copy of those that fill less than half of their ArrayBuffer, because a view keeps
 * the whole of it in memory.
 */
export function bytesToKeep(bytes: Buffer): Buffer {
  return 2 * bytes.length < bytes.buffer.byteLength ? copyBytes(bytes) : bytes
}
