import type { Stack } from './stack.ts'

interface Open {
  /** The rule of HTTP semantics that the library breaks as yet. */
  readonly open: string
  readonly breaks: (stack: Stack) => boolean
}

/** Stacks whose differences are known faults: the rule, and why. Each row goes with the cure of its fault. */
const OPEN: readonly Open[] = []

export function isOpen(stack: Stack): boolean {
  return OPEN.some(({ breaks }) => breaks(stack))
}
