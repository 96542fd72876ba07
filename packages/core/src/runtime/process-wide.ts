/**
 * Returns what `make` made for this name first, in any copy of this package: an application may load it as an ES module, by `require`, and in two
 * versions. Change the name with the shape of what is shared.
 */
export function processWide<T extends object>(name: string, make: () => T): T {
  const shared = globalThis as { [name: symbol]: (() => T) | undefined }
  return (shared[Symbol.for(`cattlegrid.${name}`)] ??= returnerOf(make()))()
}

/** Test runners delete what hangs on the global object, down to its properties, while code of the ended test file still runs: they look into no function. */
function returnerOf<T>(value: T): () => T {
  return () => value
}
