import type { ContractRunner } from '../contract-runner.ts'
import type { AdapterStage } from './stage.ts'

/** The arguments of each part of the contract. */
export interface Contract extends Pick<ContractRunner, 'describe'> {
  readonly factory: AdapterStage
  /** A test with `needs: 'time'` moves the clock, which the clock of a store's server does not allow. */
  test(title: string, play: () => Promise<void>, needs?: 'time'): void
}
