/**
 * Warns once that the `ttl` of `createCache` does not count for the responses of a route. A route without one stores what declares its own freshness, and so
 * would never store anything where no response does.
 */
export class UnusedTtlWarning {
  #given: boolean

  /** `ttl`: that of the cache; undefined where the route has one of its own, or the cache has none. */
  constructor(ttl: number | undefined) {
    this.#given = ttl === undefined
  }

  /** Call it when a response is not stored because it declares no freshness. `pattern`: the path of its route, undefined for the app as a whole. */
  give(pattern: string | undefined): void {
    if (this.#given || pattern === undefined) return
    this.#given = true
    process.emitWarning(
      `The response of ${pattern} declares no freshness, and the ttl of createCache does not count for responses: it is not stored. Give the route a ttl, ` +
        "or the adapter, for all its routes; ttl: 'origin' says that only responses which declare their own freshness are meant.",
      { type: 'CattlegridWarning', code: 'CATTLEGRID_UNUSED_TTL' },
    )
  }
}
