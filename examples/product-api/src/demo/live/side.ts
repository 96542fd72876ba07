import type { Clients, Response } from './clients.ts'
import type { Figures } from './figures.ts'
import type { StrategyFleet } from './strategy-fleet.ts'

/** One strategy: its processes, its clients, and what they see. */
export interface Side {
  readonly fleet: StrategyFleet
  readonly clients: Clients
  readonly figures: Figures
  /** Told of each response. */
  readonly listeners: Set<(response: Response) => void>
}
