/** What all captures of one process hold at this moment, in bytes. */
export class CaptureBudget {
  #held = 0

  get held(): number {
    return this.#held
  }

  /** Whether so many more would be within `most`. */
  hasRoom(bytes: number, most: number): boolean {
    return this.#held + bytes <= most
  }

  /** Counts so many more, where they are within `most`; whether they are. */
  take(bytes: number, most: number): boolean {
    if (!this.hasRoom(bytes, most)) return false
    this.#held += bytes
    return true
  }

  /** They are held no more. */
  giveBack(bytes: number): void {
    this.#held -= bytes
  }
}

/** Over every cache and route: what is bounded is the memory of the process. */
export const ofProcess: CaptureBudget = new CaptureBudget()
