/** To be done at the end, last first. */
export type Later = (action: () => unknown) => void

/** Runs `work`, and afterwards, however it ended, what it wanted done. */
export async function withCleanup<T>(work: (later: Later) => Promise<T>): Promise<T> {
  const actions: (() => unknown)[] = []
  try {
    return await work((action) => void actions.push(action))
  } finally {
    for (const action of actions.toReversed()) await action()
  }
}
