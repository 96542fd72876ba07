import type { IncomingMessage, ServerResponse } from 'node:http'
import { type MatchedRoute, MiddlewareExchange, type Recording, type QueryParser } from '@cattlegrid/http'
import { notePassedErrors } from './passed-errors.ts'
import { declaredMount, routePattern, type Route, type RoutingApp } from './layer.ts'

/** The parts of an Express app that the adapter reads; they are the same in Express 4 and 5. */
interface App extends RoutingApp {
  (req: IncomingMessage, res: ServerResponse): void
  get(setting: 'trust proxy fn'): (address: string | undefined, hops: number) => boolean
  get(setting: 'query parser fn'): QueryParser | undefined
  enabled(setting: 'case sensitive routing' | 'strict routing'): boolean
  /** The app that this one is mounted in. */
  readonly parent?: App | undefined
}

/** Node's request with what Express adds by its prototype. */
export interface ExpressRequest extends IncomingMessage {
  readonly app: App
  readonly protocol: string
  baseUrl: string
  readonly route?: Route | undefined
  originalUrl: string
  /** The router's continuation; undefined when it has left its last layer. */
  next?: (() => void) | undefined
}

/** Node's exchange, with what Express defines differently. */
export class ExpressExchange extends MiddlewareExchange<ExpressRequest> {
  /**
   * As it is at the cache: the router takes it back, and may leave none, before the final handler answers.
   */
  readonly #baseUrl: string = this.req.baseUrl

  override get scheme(): string {
    return this.req.protocol
  }

  /** As `req.host` of Express 5; that of Express 4 lacks the port. */
  override get host(): string {
    const { headers } = this.req
    const forwarded = headers['x-forwarded-host']
    const trusted = forwarded !== undefined && forwarded !== '' && this.#trustsPeer()
    return (trusted ? String(forwarded).split(',')[0]?.trim() : headers.host) ?? ''
  }

  override get routed(): string {
    const { originalUrl, url = '' } = this.req
    const whole = this.#baseUrl + url
    if (whole === originalUrl) return whole
    // Express adds a slash to a mount point that is requested without one; that is no rewriting.
    return withoutSlash(whole) === withoutSlash(originalUrl) ? originalUrl : whole
  }

  override get pattern(): string | undefined {
    const { app, route } = this.req
    return route === undefined ? undefined : routePattern(route, app, this.#baseUrl)
  }

  override get matched(): MatchedRoute | undefined {
    const { app, route } = this.req
    if (typeof route?.path !== 'string') return undefined
    if (app.enabled('case sensitive routing') || app.enabled('strict routing')) return undefined
    return { pattern: route.path, base: declaredMount(route, app, this.#baseUrl) }
  }

  override run(recording: Recording): void {
    notePassedErrors(this.req.app)
    super.run(recording)
  }

  /** Sends it to the outermost app that this one is mounted in. */
  dispatch(req: IncomingMessage, res: ServerResponse): void {
    this.#root(req, res)
  }

  /**
   * Express 5 parses the query at each read, as the present app does; Express 4 once, as the outermost
   * app does.
   */
  protected override get parseQuery(): QueryParser {
    const app = Object.hasOwn(this.req, 'query') ? this.#root : this.req.app
    return app.get('query parser fn') ?? noQuery
  }

  /**
   * Express' `sendFile` and `render` report a failure to `req.next`. If the handler calls them when another
   * response has been sent, the failure is that they come too late, and the router may have taken `next`
   * away: calling that in a callback would end the process.
   */
  protected override onReplaced(): void {
    const { req, res } = this
    let { next } = req
    const ignored = (): void => undefined
    Object.defineProperty(req, 'next', {
      configurable: true,
      get: () => (res.writableEnded ? ignored : (next ?? ignored)),
      set: (given: ExpressRequest['next']) => {
        next = given
      },
    })
  }

  protected override get isMounted(): boolean {
    return this.#baseUrl !== ''
  }

  get #root(): App {
    let root = this.req.app
    while (root.parent !== undefined) root = root.parent
    return root
  }

  #trustsPeer(): boolean {
    const { app, socket } = this.req
    return app.get('trust proxy fn')(socket.remoteAddress, 0)
  }
}

/** For `query parser: false`. */
function noQuery(): object {
  return {}
}

function withoutSlash(url: string): string {
  return url.replace(/\/(?=\?|$)/, '')
}
