import type { ServerResponse } from 'node:http'
import { checkOptions, durationRule, type KeepOptions, LONGEST_WINDOW, type OptionRules } from '@cattlegrid/core'
import { tagsRule } from './tags.ts'

/** What a handler may say about its own answer, before its head is written: `res.cattlegrid`, `reply.cattlegrid`. */
export interface ResponseDirectives {
  /** This answer is for its own client alone. */
  noStore(): void
  /**
   * Decides for this answer, whatever the route says; prohibitions still hold. What is not named stays as the route has it, tags are added.
   *
   * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
   */
  keep(options: KeepOptions): void
}

const keepRules = {
  ttl: durationRule(1),
  staleWhileRevalidate: durationRule(0, LONGEST_WINDOW),
  staleIfError: durationRule(0, LONGEST_WINDOW),
  tags: tagsRule,
} satisfies OptionRules<KeepOptions>

/** What was said: the last word on each point counts. */
export interface GivenDirectives {
  readonly noStore?: boolean | undefined
  /** ms. */
  readonly ttl?: number | undefined
  readonly staleWhileRevalidate?: number | undefined
  readonly staleIfError?: number | undefined
  readonly tags?: readonly string[] | undefined
}

const directives = new WeakMap<ServerResponse, { readonly word: ResponseDirectives; said: GivenDirectives }>()

/** The word that belongs to a response; the same for every layer of the application. */
export function directivesOf(res: ServerResponse): ResponseDirectives {
  return stateOf(res).word
}

export function givenDirectives(res: ServerResponse): GivenDirectives {
  return directives.get(res)?.said ?? {}
}

function stateOf(res: ServerResponse): { readonly word: ResponseDirectives } {
  const standing = directives.get(res)
  if (standing !== undefined) return standing
  const state = {
    said: {} as GivenDirectives,
    word: {
      noStore: (): void => {
        state.said = { ...state.said, noStore: true }
      },
      keep: (options: KeepOptions): void => {
        state.said = { ...state.said, ...checkOptions('keep', options, keepRules) }
      },
    },
  }
  directives.set(res, state)
  return state
}
