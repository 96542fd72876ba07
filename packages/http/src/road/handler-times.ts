import type { Runtime } from '@cattlegrid/core/extend'
import type { Report } from '../response/report-fields.ts'

/** How long a request waited until its own handler began, and how long that has run. */
export class HandlerTimes {
  readonly #runtime: Pick<Runtime, 'elapsed'>
  readonly #requested: number
  #began: number | undefined

  constructor(runtime: Pick<Runtime, 'elapsed'>) {
    this.#runtime = runtime
    this.#requested = runtime.elapsed()
  }

  begin(): void {
    this.#began = this.#runtime.elapsed()
  }

  /** Nothing is known before the handler has begun. */
  untilNow(): Pick<Report, 'waited' | 'loadTime'> {
    const began = this.#began
    return began === undefined ? {} : { waited: began - this.#requested, loadTime: this.#runtime.elapsed() - began }
  }
}
