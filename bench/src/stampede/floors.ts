import type { Open } from '../contenders/contender.ts'
import { open } from '../contenders/refreshed-by-lock.ts'
import { openTold, openWoken } from '../contenders/told-by-push.ts'

/** What the work costs at least, by name. None of them is safe. */
export const floors = {
  'one flight, told by a push': openTold,
  'one flight, woken by a push': openWoken,
  'one read, refreshed under a lock': open,
} as const satisfies Readonly<Record<string, Open>>

export type Floor = keyof typeof floors
