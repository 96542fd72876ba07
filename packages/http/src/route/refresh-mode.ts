import { channel } from 'node:diagnostics_channel'

const rejections = channel('cattlegrid:refresh-rejected')

/** How a route's stale responses are refreshed: by subrequests, or inline, by the next client's own request. */
export class RefreshMode {
  #inline: boolean

  constructor(option: 'behind' | 'inline') {
    this.#inline = option === 'inline'
  }

  get inline(): boolean {
    return this.#inline
  }

  /** A subrequest had another key than the request that caused it, as those of this route will have: from now on it is refreshed inline. */
  reject(why: 'key'): void {
    if (rejections.hasSubscribers) rejections.publish({ why })
    if (this.#inline) return
    this.#inline = true
    process.emitWarning(
      'A background refresh came to another key than the request that caused it, and was rejected. The route is refreshed by requests of ' +
        'clients from now on. Declare what its key needs in key.headers or key.cookies, which background refreshes carry.',
      { type: 'CattlegridWarning', code: 'CATTLEGRID_REFRESH_REJECTED' },
    )
  }
}
