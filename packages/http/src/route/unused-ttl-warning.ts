/**
 * Warns once that a response is not stored because its route has no `ttl`; that of `createCache` does not
 * count for responses. A route without one stores what declares its own freshness, and so would never store
 * anything where no response does.
 */
export class UnusedTtlWarning {
  readonly #ofCache: number | undefined
  #given: boolean

  /** `ofCache`: the ttl of the cache. */
  constructor(ofRoute: unknown, ofCache: number | undefined) {
    this.#given = ofRoute !== undefined
    this.#ofCache = ofCache
  }

  /**
   * Call it when a response is not stored because it declares no freshness. `pattern`: the path of its route,
   * undefined for the app as a whole.
   */
  give(pattern: string | undefined): void {
    if (this.#given || pattern === undefined) return
    this.#given = true
    const why =
      this.#ofCache === undefined ? 'its route has no ttl' : 'the ttl of createCache does not count for responses'
    process.emitWarning(
      `The response of ${pattern} declares no freshness, and ${why}: it is not stored. Give the route a ttl, or app.use: ` +
        "cached({ ttl }); that of the adapter counts only for routes with cached() or config.cache. ttl: 'origin' says that only responses which declare their own freshness are meant.",
      {
        type: 'CattlegridWarning',
        code: this.#ofCache === undefined ? 'CATTLEGRID_NO_TTL' : 'CATTLEGRID_UNUSED_TTL',
      },
    )
  }
}
