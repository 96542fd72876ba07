import { channel } from 'node:diagnostics_channel'

const rejections = channel('cattlegrid:refresh-rejected')

/** A refresh whose response was not stored, as published to `cattlegrid:refresh-rejected` of `node:diagnostics_channel`. */
export interface RefreshRejection {
  /** Path and query, without unkeyed parameters. */
  readonly target: string
  /** The status of the response; undefined: there is none. */
  readonly status: number | undefined
  /**
   * Why the response cannot be stored, as a detail of `Cache-Status`. `unreached`: a layer outside the cache answered, such as a login. `key`: the
   * subrequest had another key than the request that caused it.
   */
  readonly why: string
}

/** How a route's stale responses are refreshed: by subrequests, or inline, by the next client's own request. */
export class RefreshMode {
  #inline: boolean

  constructor(option: 'behind' | 'inline') {
    this.#inline = option === 'inline'
  }

  get inline(): boolean {
    return this.#inline
  }

  /** Publishes the rejection. After a rejection by `key`, the route's refreshes are inline from then on: each later subrequest would be rejected, too. */
  onRejection(rejection: RefreshRejection): void {
    if (rejections.hasSubscribers) rejections.publish(rejection)
    if (rejection.why !== 'key' || this.#inline) return
    this.#inline = true
    process.emitWarning(
      'A background refresh came to another key than the request that caused it, and was rejected. The route is refreshed by requests of ' +
        'clients from now on. Declare what its key needs in key.headers or key.cookies, which background refreshes carry.',
      { type: 'CattlegridWarning', code: 'CATTLEGRID_REFRESH_REJECTED' },
    )
  }
}
