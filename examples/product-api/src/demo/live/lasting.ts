import type { Effect } from './action.ts'
import { tell } from './sentence.ts'
import type { Show } from './show.ts'

export interface Lasting {
  /** What is now, without its full stop. */
  readonly message: string
  /** What was, for a time such as `8.0 s`. */
  readonly deed: (lasted: string) => string
  readonly begin: () => Promise<void>
  readonly end: () => Promise<void>
  readonly restoreAfterMs: number
}

/** What a button does until it is undone; then its figures are told. */
export async function lasting(show: Show, { message, deed, begin, end, restoreAfterMs }: Lasting): Promise<Effect> {
  const aftermath = show.watch()
  const began = performance.now()
  await begin()
  return {
    message: `${message}.`,
    figures: aftermath.figures,
    restoreAfterMs,
    restore: async () => {
      await end()
      aftermath.end()
      const lasted = `${((performance.now() - began) / 1_000).toFixed(1)} s`
      return { message: tell(deed(lasted), aftermath.figures()), figures: aftermath.figures }
    },
  }
}
