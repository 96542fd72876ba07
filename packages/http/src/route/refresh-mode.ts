import { channel } from 'node:diagnostics_channel'
import { warn } from '../warnings.ts'

const rejections = channel('cattlegrid:refresh-rejected')

/**
 * A refresh whose response was not stored, as published to `cattlegrid:refresh-rejected` of
 * `node:diagnostics_channel`.
 */
export interface RefreshRejection {
  /** Path and query, without unkeyed parameters. */
  readonly target: string
  /** The status of the response; undefined: there is none. */
  readonly status: number | undefined
  /**
   * Why the response cannot be stored, as a detail of `Cache-Status`. `unreached`: a layer outside the cache
   * answered, such as a login. `key`: the subrequest had another key than the request that caused it.
   */
  readonly why: string
}

/**
 * How a route's stale responses are refreshed: by subrequests, or inline, by the next client's own request.
 */
export class RefreshMode {
  #inline: boolean
  /** The status of the latest refresh, if that came to no handler of the route. */
  #unreached: { readonly status: number | undefined } | undefined

  constructor(option: 'behind' | 'inline') {
    this.#inline = option === 'inline'
  }

  get inline(): boolean {
    return this.#inline
  }

  /** A refresh has come to the route. */
  onReached(): void {
    this.#unreached = undefined
  }

  /**
   * Publishes the rejection. The route's refreshes are inline from then on if each later subrequest would be
   * rejected, too: after one by `key`, and after two that came to no handler of the route, with one status
   * and no other refresh between them.
   */
  onRejection(rejection: RefreshRejection): void {
    if (rejections.hasSubscribers) rejections.publish(rejection)
    const warning = this.#inline ? undefined : this.#warningAfter(rejection)
    if (warning === undefined) return
    this.#inline = true
    warn('CATTLEGRID_REFRESH_REJECTED', `${warning} Requests of clients refresh the route from now on.`)
  }

  #warningAfter({ why, status, target }: RefreshRejection): string | undefined {
    if (why === 'key') return `${OTHER_KEY} ${DECLARE_KEY}`
    const before = this.#unreached
    this.#unreached = why === 'unreached' ? { status } : undefined
    if (why !== 'unreached' || before === undefined || before.status !== status) return undefined
    const answered = status === undefined ? 'nothing' : `another layer or route, with ${status}`
    return `Two background refreshes, the second of ${target}, did not reach their route: ${answered} answered. ${CARRY_FIELDS}`
  }
}

const OTHER_KEY = 'A background refresh came to another key than the request that caused it, and was rejected.'
const DECLARE_KEY = 'Declare what its key needs in key.headers or key.cookies, which background refreshes carry.'
const CARRY_FIELDS =
  "Name the fields by which the route is found or let in in refreshHeaders, or set refresh: 'inline'."
