export interface Cleanup {
  /** Registers a step. A step that is registered after the clean-up has begun runs at once. */
  readonly defer: (undo: () => Promise<void>) => void
  /** Runs all steps, the last registered first. A step that fails does not stop the others. */
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
