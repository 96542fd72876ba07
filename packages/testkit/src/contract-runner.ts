/** What a test runner must offer a contract suite; Jest, Vitest and `node:test` do. */
export interface ContractRunner {
  describe(title: string, suite: () => void): void
  test(title: string, play: () => Promise<void>): void
}

/** The runner whose functions are global. */
export function globalRunner(): ContractRunner {
  const { describe, test } = globalThis as unknown as Partial<ContractRunner>
  if (describe === undefined || test === undefined)
    throw new TypeError('No global describe and test: hand them in as the third argument.')
  return { describe, test }
}
