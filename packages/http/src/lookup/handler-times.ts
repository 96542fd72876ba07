import type { Runtime } from '@cattlegrid/core'
import type { Report } from '../response/report-fields.ts'

/** How long a request waited until its own handler began, and how long that has run. */
export class HandlerTimes {
  readonly #runtime: Pick<Runtime, 'now'>
  readonly #requested: number
  #began: number | undefined

  constructor(runtime: Pick<Runtime, 'now'>) {
    this.#runtime = runtime
    this.#requested = runtime.now()
  }

  begin(): void {
    this.#began = this.#runtime.now()
  }

  /** Nothing is known before the handler has begun. */
  untilNow(): Pick<Report, 'waited' | 'loadTime'> {
    const began = this.#began
    return began === undefined ? {} : { waited: began - this.#requested, loadTime: this.#runtime.now() - began }
  }
}
