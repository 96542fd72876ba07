export interface Progress {
  /** What goes on now. On a terminal it replaces the last line, elsewhere repeats of one step are left out. */
  readonly say: (step: string, detail?: string) => void
  /** Leaves the terminal clean for what follows. */
  readonly done: () => void
}

/** Progress goes to stderr, so that stdout holds the table and nothing else. */
export function createProgress(quiet: boolean, stream: NodeJS.WriteStream = process.stderr): Progress {
  const began = performance.now()
  const clear = stream.isTTY ? '\r\u001B[2K' : ''
  let last: string | undefined

  const write = (step: string, detail: string): void => {
    const seconds = ((performance.now() - began) / 1_000).toFixed(0).padStart(3)
    const text = `${seconds} s  ${step}${detail === '' ? '' : `: ${detail}`}`
    stream.write(stream.isTTY ? clear + text.slice(0, stream.columns - 1) : `${text}\n`)
  }

  return {
    say: (step, detail = '') => {
      if (quiet || (!stream.isTTY && step === last)) return
      last = step
      write(step, detail)
    },
    done: () => {
      if (!quiet) stream.write(clear)
    },
  }
}
