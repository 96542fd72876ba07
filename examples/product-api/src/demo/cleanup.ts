export interface Cleanup {
  /** Registers a step to undo; once the clean-up has begun, what is still being registered is undone at once. */
  readonly defer: (undo: () => Promise<void>) => void
  /** Undoes everything, last first. A step that fails does not keep the others from running. */
  readonly run: () => Promise<void>
}

export function createCleanup(onError: (error: unknown) => void): Cleanup {
  const steps: (() => Promise<void>)[] = []
  let running: Promise<void> | undefined

  const undoAll = async (): Promise<void> => {
    for (let undo = steps.pop(); undo !== undefined; undo = steps.pop()) await undo().catch(onError)
  }

  return {
    defer: (undo) => {
      steps.push(undo)
      if (running !== undefined) running = running.then(undoAll)
    },
    run: async () => {
      running ??= undoAll()
      // A step registered meanwhile has made `running` longer.
      for (let awaited; awaited !== running;) {
        awaited = running
        await awaited
      }
    },
  }
}
