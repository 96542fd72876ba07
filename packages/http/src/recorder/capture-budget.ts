import { processWide } from '@cattlegrid/core/extend'

/** The number of bytes that all body copies of one process hold. */
export class CaptureBudget {
  #held = 0

  get held(): number {
    return this.#held
  }

  hasRoom(bytes: number, limit: number): boolean {
    return this.#held + bytes <= limit
  }

  /** Counts the bytes and returns true, unless they exceed the limit. */
  take(bytes: number, limit: number): boolean {
    if (!this.hasRoom(bytes, limit)) return false
    this.#held += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#held -= bytes
  }
}

/** Shared by every cache and route, because it bounds the memory of the process. */
export const processBudget: CaptureBudget = processWide('capture-budget/1', () => new CaptureBudget())
