/** The functions of a test runner that a contract calls. Jest, Vitest and `node:test` have them. */
export interface ContractRunner {
  describe(title: string, suite: () => void): void
  test(title: string, play: () => Promise<void>): void
}

/** Returns the global `describe` and `test`. */
export function globalRunner(): ContractRunner {
  const { describe, test } = globalThis as unknown as Partial<ContractRunner>
  if (describe === undefined || test === undefined)
    throw new TypeError('describe and test are not global here: pass them as the third argument.')
  return { describe, test }
}
