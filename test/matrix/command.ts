import type { Crowd } from './tally.ts'

/** What the runner asks of a member. */
export type Command =
  /** Write what everybody knows; know it; let one of it expire. */
  | { readonly do: 'fill' | 'know' | 'age' }
  | ({ readonly do: 'wave'; readonly wave: number } & Crowd)
  | { readonly do: 'write' }
  | { readonly do: 'recover'; readonly patience: number; readonly callers: number }
  | { readonly do: 'name'; readonly gone: boolean }
  | { readonly do: 'report' }
