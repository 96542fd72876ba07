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
}
