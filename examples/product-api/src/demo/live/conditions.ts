import type { Pool } from 'pg'
import { CONDITIONS } from '../../strategies/load-ranking.ts'

/** Makes a load about this many times as long. */
const SLOW_ROUNDS = 40

/** The conditions under which every load runs: they are rows in the database, so that they hold for every process. */
export class Conditions {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async create(): Promise<void> {
    await this.#pool.query(CONDITIONS)
  }

  async makeSlow(): Promise<void> {
    await this.#setRounds(SLOW_ROUNDS)
  }

  async makeFail(): Promise<void> {
    await this.#setRounds(0)
  }

  async restore(): Promise<void> {
    await this.#setRounds(1)
  }

  /** Changes the source; returns its new revision. */
  async changeSource(): Promise<number> {
    const changed = await this.#pool.query<{ revision: number }>(
      'update cattlegrid_demo.conditions set revision = revision + 1 returning revision',
    )
    return changed.rows[0]?.revision ?? 0
  }

  async #setRounds(rounds: number): Promise<void> {
    await this.#pool.query('update cattlegrid_demo.conditions set rounds = $1', [rounds])
  }
}
