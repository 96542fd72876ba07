import type { ContractRunner } from '../contract-runner.ts'
import type { AdapterStage } from './stage.ts'

/** The arguments of each part of the contract. */
export interface Contract extends Pick<ContractRunner, 'describe'> {
  readonly factory: AdapterStage
  test(title: string, play: () => Promise<void>, ...needs: readonly Need[]): void
}

/**
 * What only some stages have. `time`: a clock that the test moves; that of a store's server does not move.
 * `node`: handlers that write to Node's response, and see its connection; those of `fetch` return a response.
 */
export type Need = 'time' | 'node'
