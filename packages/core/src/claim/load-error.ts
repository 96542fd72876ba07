import { failureOf } from '../errors.ts'
import type { Settings } from '../options/settings.ts'

/** True when a loader's error is a failure. An `isFailure` that itself throws counts as true. */
export function isFailure(settings: Settings, error: unknown): boolean {
  if (isOwnAbort(settings, error)) return false
  try {
    return settings.isFailure(error)
  } catch {
    return true
  }
}

/**
 * True when the loader stopped because its own caller's signal aborted: that says nothing about the source.
 */
export function isOwnAbort({ signal }: Settings, error: unknown): boolean {
  return signal?.aborted === true && (error === signal.reason || failureOf(error).name === 'AbortError')
}
