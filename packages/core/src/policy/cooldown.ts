import type { CooldownPolicy } from './policy.ts'

/** Doubles from `min` with every failure in a row, up to `max`. */
export const doublingCooldown: CooldownPolicy = {
  after: (attempts, { min, max }) => Math.min(max, min * 2 ** Math.max(0, attempts - 1)),
}
