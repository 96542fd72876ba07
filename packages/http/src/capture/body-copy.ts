import type { CaptureBudget } from './capture-budget.ts'

/** How much may be copied, in bytes. */
export interface CopyLimits {
  readonly maxBodyBytes: number
  /** Of all copies of the process together. */
  readonly maxCaptureBytes: number
}

/** The copy of a body while it is made: bounded, and counted among all those of the process until it is dropped. */
export class BodyCopy {
  readonly #limits: CopyLimits
  readonly #budget: CaptureBudget
  #chunks: Buffer[] = []
  #counted = 0
  #size = 0
  #tooLarge = false
  #crowdedOut = false

  constructor(limits: CopyLimits, budget: CaptureBudget) {
    this.#limits = limits
    this.#budget = budget
  }

  /** Of the body so far, copied or not. */
  get size(): number {
    return this.#size
  }

  /** It is longer than may be kept; nothing of it is. */
  get tooLarge(): boolean {
    return this.#tooLarge
  }

  /** It is too large only beside the others of this moment. */
  get crowdedOut(): boolean {
    return this.#crowdedOut
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** Copied, because the handler may use its buffer again. */
  add(bytes: Uint8Array): void {
    this.#size += bytes.length
    if (this.#tooLarge) return
    const { maxBodyBytes, maxCaptureBytes } = this.#limits
    if (this.#size <= maxBodyBytes && this.#budget.take(bytes.length, maxCaptureBytes)) {
      this.#counted += bytes.length
      this.#chunks.push(Buffer.from(bytes))
    } else {
      this.#tooLarge = true
      this.#crowdedOut = this.#size <= maxBodyBytes
      this.drop()
    }
  }

  /** The body is one that is stored already, and costs nothing more. */
  adopt(stored: Buffer): void {
    this.drop()
    this.#chunks = [stored]
  }

  drop(): void {
    this.#chunks = []
    this.#budget.giveBack(this.#counted)
    this.#counted = 0
  }
}
