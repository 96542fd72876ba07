import type { Chunk } from '../fields/body-arguments.ts'
import type { CaptureBudget } from './capture-budget.ts'

/** How many bytes may be copied. */
export interface CopyLimits {
  readonly maxBodyBytes: number
  /** The limit of all copies of the process together. */
  readonly maxCaptureBytes: number
}

const NOTHING = Buffer.alloc(0)

/**
 * A copy of a body that the handler still writes. Its bytes count against the budget of the process until the
 * copy is dropped.
 */
export class BodyCopy {
  readonly #limits: CopyLimits
  readonly #budget: CaptureBudget
  /**
   * Doubles when a chunk does not fit: a buffer for each chunk would cost a hundred bytes beside each of ten.
   */
  #buffer = NOTHING
  #size = 0
  #ended = false
  #exceeded: keyof CopyLimits | undefined

  constructor(limits: CopyLimits, budget: CaptureBudget) {
    this.#limits = limits
    this.#budget = budget
  }

  get bytes(): Buffer {
    return this.#size === this.#buffer.length ? this.#buffer : Buffer.from(this.#buffer.subarray(0, this.#size))
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The limit that the body exceeded; undefined: none. A body that exceeds one is dropped. */
  get exceeded(): keyof CopyLimits | undefined {
    return this.#exceeded
  }

  /** Copies the bytes, because the handler may use its buffer again. */
  add(chunk: Chunk): void {
    if (this.#ended || this.#exceeded !== undefined) return
    const { maxBodyBytes, maxCaptureBytes } = this.#limits
    const length = Buffer.byteLength(chunk)
    if (this.#size + length > maxBodyBytes) this.#exceed('maxBodyBytes')
    else if (!this.#budget.take(length, maxCaptureBytes)) this.#exceed('maxCaptureBytes')
    else this.#append(chunk, length)
  }

  #append(chunk: Chunk, length: number): void {
    const size = this.#size + length
    if (this.#size === 0) {
      this.#buffer = Buffer.from(chunk as string)
      this.#size = size
      return
    }
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#size))
      this.#buffer.copy(larger, 0, 0, this.#size)
      this.#buffer = larger
    }
    if (typeof chunk === 'string') this.#buffer.write(chunk, this.#size)
    else this.#buffer.set(chunk, this.#size)
    this.#size = size
  }

  end(): void {
    this.#ended = true
  }

  drop(): void {
    this.#buffer = NOTHING
    this.#budget.giveBack(this.#size)
    this.#size = 0
  }

  /** The bytes so far are not those of the body: it begins now. */
  restart(): void {
    this.drop()
    this.#exceeded = undefined
  }

  #exceed(limit: keyof CopyLimits): void {
    this.#exceeded = limit
    this.drop()
  }
}
