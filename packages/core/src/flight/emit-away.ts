import type { Events } from '../events/events.ts'
import type { Away } from '../store/answers.ts'

/**
 * Emits that the store did not answer a step. Other events tell of an open breaker and a lost connection,
 * once for all steps that are not sent.
 */
export function emitAway(events: Events, key: string, step: string, { why, cause }: Away): void {
  if (why === 'breaker' || why === 'disconnected' || !events.hasListeners('away')) return
  events.emit('away', { key, step, error: cause })
}
