import type { Layer, Stack } from './stack.ts'

interface Open {
  /** The rule of HTTP semantics that the library breaks as yet. */
  readonly open: string
  readonly breaks: (stack: Stack) => boolean
}

/** Stacks whose differences are known faults: the rule, and why. Each row goes with the cure of its fault. */
const OPEN: readonly Open[] = [
  // A Vary: Origin or Accept-Encoding counts where the inside says it, too.
  {
    open: '16.3',
    breaks: ({ outside, inside }) =>
      ['origin', 'accept-encoding'].some((name) =>
        [outside, inside].every((layers) => layers.some((layer) => namesOf(layer).includes(name))),
      ),
  },
  // A hit gives @fastify/compress an empty text, where a handler without a body gives it nothing.
  {
    open: '16.6',
    breaks: ({ framework, outside, handler: { style } }) =>
      framework === 'Fastify 5' && style === 'redirect' && outside.some(({ does }) => does === 'compress'),
  },
  // Fastify removes the type of a 204; a hit has it.
  { open: '9.1', breaks: ({ framework, handler: { status } }) => framework === 'Fastify 5' && status === 204 },
]

export function isOpen(stack: Stack): boolean {
  return OPEN.some(({ breaks }) => breaks(stack))
}

/** The names that a layer adds to `Vary`, lower-case. */
function namesOf({ does, with: value }: Layer): string {
  if (does === 'allow the origin') return 'origin'
  if (does === 'compress') return 'accept-encoding'
  return does === 'vary' ? value.toLowerCase() : ''
}
