/**
 * Returns what `make` made first for this name, in any copy of the calling package: an application may load
 * one as an ES module, by `require`, and in two versions. Change the name with the shape of what is shared.
 *
 * @example
 * import { processWide } from '@cattlegrid/core/extend'
 *
 * const seen = processWide('my-adapter/seen/1', () => new WeakSet<object>())
 */
export function processWide<T extends object>(name: string, make: () => T): T {
  const shared = globalThis as { [name: symbol]: (() => T) | undefined }
  return (shared[Symbol.for(`cattlegrid.${name}`)] ??= returnerOf(make()))()
}

/**
 * Test runners delete what hangs on the global object, down to its properties, while code of the ended test
 * file still runs: they look into no function.
 */
function returnerOf<T>(value: T): () => T {
  return () => value
}
