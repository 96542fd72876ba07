import type { KeepOptions } from '@cattlegrid/core'
import { checkOptions, LONGEST_WINDOW, type OptionRules, rule } from '@cattlegrid/core/extend'
import { tagsRule } from './tags.ts'

/**
 * Lets a handler decide about its own response, before the head is written: `res.cattlegrid`,
 * `reply.cattlegrid`.
 */
export interface ResponseDirectives {
  /** The response goes to its own client only. */
  noStore(): void
  /**
   * Overrides the route's options for this response; tags are added to the route's. Prohibitions still hold.
   *
   * @throws InvalidOptionError for an unknown option or a value that is not accepted.
   */
  keep(options: KeepOptions): void
}

const keepRules = {
  ttl: rule.computedTtl,
  staleWhileRevalidate: rule.duration(0, LONGEST_WINDOW),
  staleIfError: rule.duration(0, LONGEST_WINDOW),
  tags: tagsRule,
} satisfies OptionRules<KeepOptions>

/** The directives that a handler gave; the last call counts for each option. */
export interface GivenDirectives {
  readonly noStore?: boolean | undefined
  /** ms. */
  readonly ttl?: number | undefined
  readonly staleWhileRevalidate?: number | undefined
  readonly staleIfError?: number | undefined
  readonly tags?: readonly string[] | undefined
}

interface State {
  readonly directives: ResponseDirectives
  given: GivenDirectives
}

/**
 * Set on the response, for all layers of the application: those of another copy of this package, such as its
 * CommonJS build, must know them, too.
 */
const STATE = Symbol.for('cattlegrid.directives')

/** A response, or in the handlers of `@cattlegrid/web` their request. */
type WithState = object & { readonly [STATE]?: State }

/**
 * All layers of the application get the same object for a response.
 *
 * @example
 * import { directivesOf } from '@cattlegrid/http'
 *
 * directivesOf(res).noStore()
 */
export function directivesOf(res: object): ResponseDirectives {
  return stateOf(res).directives
}

/**
 * What the handler has said about its own response so far.
 *
 * @example
 * import { givenDirectives } from '@cattlegrid/http/binding'
 *
 * const isKept = givenDirectives(res).noStore !== true
 */
export function givenDirectives(res: object): GivenDirectives {
  return (res as WithState)[STATE]?.given ?? {}
}

function stateOf(res: object): State {
  const known = (res as WithState)[STATE]
  if (known !== undefined) return known
  const state: State = {
    given: {},
    directives: {
      noStore: () => {
        state.given = { ...state.given, noStore: true }
      },
      keep: (options) => {
        state.given = { ...state.given, ...checkOptions('keep', options, keepRules) }
      },
    },
  }
  Object.defineProperty(res, STATE, { value: state })
  return state
}
