import type { Failure } from '../errors.ts'
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

/** True when the loader stopped because its own caller's signal aborted: that says nothing about the source. */
export function isOwnAbort({ signal }: Settings, error: unknown): boolean {
  return signal?.aborted === true && (error === signal.reason || textOf(error, 'name') === 'AbortError')
}

/** The part of a loader's error that may leave the process. */
export function describeError(error: unknown, shareMessage: boolean): Failure {
  const name = textOf(error, 'name') ?? typeof error
  return { name, code: textOf(error, 'code'), message: shareMessage ? textOf(error, 'message') : undefined }
}

/** No `instanceof`: the error may come from another realm. No trust in its getters: they may throw. */
function textOf(error: unknown, field: 'name' | 'code' | 'message'): string | undefined {
  try {
    const value = (error as Readonly<Record<string, unknown>> | null | undefined)?.[field]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  } catch {
    return undefined
  }
}
