import type { EngineServices } from '../flight/engine-services.ts'
import type { CancelTimer } from '../runtime/runtime.ts'
import { answerOf, type Lease } from '../store/answers.ts'

export interface LeaseHold {
  /** The length that a renewal gives the lease, ms. */
  readonly duration: number
  /** The latest end of the lease, ms from its grant: a hung loader loses it then. */
  readonly maxHold: number
}

/** Renews a lease every third of its duration, until the returned function is called or the lease is lost, at the latest at `maxHold`; `onLost` gets the reason. */
export function keepAlive(
  lease: Lease,
  hold: LeaseHold,
  services: EngineServices,
  onLost: (why: string) => void,
): CancelTimer {
  const { store, runtime, events } = services
  let stopped = false
  let cancel: CancelTimer
  const stop = (): void => {
    stopped = true
    cancel()
  }
  const renew = async (): Promise<void> => {
    const left = hold.maxHold - (runtime.now() - lease.sentAt)
    if (left < 1) return onLost('max-hold')
    const duration = Math.min(hold.duration, left)
    const answer = await answerOf(() => store.renew(lease, duration))
    if (stopped) return undefined
    if (answer.kind === 'refused') return onLost(answer.why)
    if (answer.kind === 'renewed' && events.hasListeners('renew'))
      events.emit('renew', { key: lease.key, remaining: duration })
    return scheduleRenewal()
  }
  const scheduleRenewal = (): void => {
    cancel = runtime.schedule(() => void renew(), hold.duration / 3)
  }
  scheduleRenewal()
  return stop
}
