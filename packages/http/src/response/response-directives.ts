import type { ServerResponse } from 'node:http'
import { checkOptions, durationRule, type KeepOptions, LONGEST_WINDOW, type OptionRules } from '@cattlegrid/core'
import { tagsRule } from './tags.ts'

/** What a handler may say about its own answer, before its head is written: `res.cattlegrid`, `reply.cattlegrid`. */
export interface ResponseWord {
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
export interface Said {
  readonly noStore?: boolean | undefined
  /** ms. */
  readonly ttl?: number | undefined
  readonly staleWhileRevalidate?: number | undefined
  readonly staleIfError?: number | undefined
  readonly tags?: readonly string[] | undefined
}

const words = new WeakMap<ServerResponse, { readonly word: ResponseWord; said: Said }>()

/** The word that belongs to a response; the same for every layer of the application. */
export function wordOf(res: ServerResponse): ResponseWord {
  return stateOf(res).word
}

export function saidOf(res: ServerResponse): Said {
  return words.get(res)?.said ?? {}
}

function stateOf(res: ServerResponse): { readonly word: ResponseWord } {
  const standing = words.get(res)
  if (standing !== undefined) return standing
  const state = {
    said: {} as Said,
    word: {
      noStore: (): void => {
        state.said = { ...state.said, noStore: true }
      },
      keep: (options: KeepOptions): void => {
        state.said = { ...state.said, ...checkOptions('keep', options, keepRules) }
      },
    },
  }
  words.set(res, state)
  return state
}
