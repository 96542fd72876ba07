/**
 * As the global one at the start: what a test puts in its place later, such as fake timers, stops no part of
 * the cache.
 */
export const queueOwnMicrotask: typeof queueMicrotask = queueMicrotask
