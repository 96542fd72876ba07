import type { ServerResponse } from 'node:http'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { hasOwnBodyMethods, LeftBody } from './left-body.ts'

/**
 * What was seen of the layers outside of one place: whether they send the recorded bodies, or codings of
 * them. Only then are conditions and ranges answered by validators of the cache: a layer may write its
 * client's name into each page.
 */
export class OuterBodies {
  #kept: boolean | undefined

  /** undefined: nobody has seen it yet. One body that was replaced decides. */
  get kept(): boolean | undefined {
    return this.#kept
  }

  /**
   * `kept`: undefined: nothing has left. `streamed`: in parts, which says nothing about whole bodies, as a
   * hit has them: a layer may replace only these.
   */
  note(kept: boolean | undefined, streamed: boolean): void {
    if (kept === false) this.#kept = false
    else if (kept === true && !streamed) this.#kept ??= true
  }

  /**
   * Compares what is sent of a stored response with what leaves the layers outside. `mayDiffer`: as
   * in `LeftBody`.
   */
  watch(res: ServerResponse, mayDiffer: boolean, { fields }: RecordedResponse, body: Buffer): void {
    if (this.#kept === false || !(mayDiffer || hasOwnBodyMethods(res))) return
    const left = new LeftBody(res, mayDiffer)
    res.once('finish', () => {
      if (!left.isCoded(fields)) this.note(left.holds(body), false)
      left.drop()
    })
  }
}
