import type { NewEntry } from '../entry.ts'
import { deepFreeze } from '../entry.ts'
import { type Settings, requireTtl } from '../options/settings.ts'

/**
 * Builds the entry to commit. Jitter shortens its `ttl`, and the stale windows count from the shortened
 * expiry. `random`: 0 to 1.
 */
export function newEntry(value: unknown, loadTime: number, settings: Settings, random: number): NewEntry {
  const ttl = Math.max(1, requireTtl(settings) * (1 - settings.jitter * random))
  if (settings.freeze) deepFreeze(value)
  const { staleWhileRevalidate, staleIfError, tags, maxEntryBytes } = settings
  return { value, ttl, staleWhileRevalidate, staleIfError, loadTime, tags, maxBytes: maxEntryBytes }
}
