const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * A duration in ms as a person reads it: `250 ms`, `4.2 s`, `4 min 58 s`, `2 h 5 min`, `3 d 4 h`.
 *
 * @example
 * import { formatDuration } from '@cattlegrid/core/extend'
 *
 * console.log(formatDuration(298_000)) // 4 min 58 s
 */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < SECOND) return `${Math.round(ms)} ms`
  if (ms < 59.95 * SECOND) return `${(ms / SECOND).toFixed(1)} s`
  if (ms < HOUR) return pair(ms, MINUTE, 'min', SECOND, 's')
  return ms < DAY ? pair(ms, HOUR, 'h', MINUTE, 'min') : pair(ms, DAY, 'd', HOUR, 'h')
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const units = Math.round(ms / small)
  const perLarge = large / small
  return `${Math.floor(units / perLarge)} ${largeName} ${units % perLarge} ${smallName}`
}
