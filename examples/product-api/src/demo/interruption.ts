const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: keyof typeof EXIT_CODES) {
    super(`interrupted by ${signal}`)
    this.name = 'Interrupted'
    this.exitCode = EXIT_CODES[signal]
  }
}

/** Rejects at the first signal that asks the process to end. Later signals are ignored: the clean-up is under way. */
export function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => reject(new Interrupted(signal)))
    }
  })
}
