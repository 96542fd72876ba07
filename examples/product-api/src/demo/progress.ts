export interface Progress {
  /** Shows what happens now. On a terminal it replaces the last line, elsewhere it adds a line. */
  readonly say: (text: string) => void
  /** A line that stays, also where progress is not shown: what the reader has to know. */
  readonly note: (text: string) => void
  /** Removes the last line from the terminal. */
  readonly done: () => void
}

/** Progress goes to stderr, so that stdout holds the table and nothing else. */
export function createProgress(quiet: boolean, stream: NodeJS.WriteStream = process.stderr): Progress {
  const began = performance.now()
  const clear = stream.isTTY ? '\r\u001B[2K' : ''
  let last: string | undefined

  return {
    say: (text) => {
      if (quiet || text === last) return
      last = text
      const seconds = ((performance.now() - began) / 1_000).toFixed(0).padStart(3)
      const line = `${seconds} s  ${text}`
      // A line that wraps could not be cleared; a terminal of unknown width reports 0.
      stream.write(stream.isTTY ? clear + line.slice(0, (stream.columns || 80) - 1) : `${line}\n`)
    },
    note: (text) => void stream.write(`${clear}${text}\n`),
    done: () => {
      if (!quiet) stream.write(clear)
    },
  }
}
