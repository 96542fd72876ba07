import { setTimeout as sleep } from 'node:timers/promises'

export function load() {
  return { late: sleep(50, 'later') }
}
