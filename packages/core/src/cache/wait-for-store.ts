import { StoreAwayError } from '../errors.ts'
import type { EngineServices } from '../flight/engine-services.ts'

/** The pause before the store is asked again, ms. */
const PAUSE = 100

/**
 * Resolves once the store has answered.
 *
 * @throws StoreAwayError after `timeout` ms without an answer; what `checkOpen` throws, which is asked before
 * each step.
 */
export async function waitForStore(
  { store, runtime }: Pick<EngineServices, 'store' | 'runtime'>,
  timeout: number,
  checkOpen: () => void,
): Promise<void> {
  const end = runtime.elapsed() + timeout
  for (;;) {
    checkOpen()
    const answer = await store.ping()
    if (answer.kind === 'done') return
    const left = end - runtime.elapsed()
    if (left <= 0) throw new StoreAwayError('ping', '*', answer)
    // Keeps the process alive: nothing else may do so at its start.
    await new Promise<void>((resolve) => void runtime.schedule(resolve, Math.min(PAUSE, left), true))
  }
}
