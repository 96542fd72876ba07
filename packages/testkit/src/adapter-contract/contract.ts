import type { AdapterStage } from './stage.ts'

/** What a test runner must offer; Jest, Vitest and `node:test` do. */
export interface ContractRunner {
  describe(title: string, suite: () => void): void
  test(title: string, play: () => Promise<void>): void
}

/** What each part of the contract is told by. */
export interface Contract extends Pick<ContractRunner, 'describe'> {
  readonly factory: AdapterStage
  /** `needs`: the test moves the time, which a server's own clock does not allow. */
  test(title: string, play: () => Promise<void>, needs?: 'time'): void
}
