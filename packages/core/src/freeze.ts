/** Makes plain objects and arrays read-only, as deep as they go; what is no plain data, such as bytes, a Map or a Date, stays as it is. */
export function deepFreeze(value: unknown): void {
  const met = new Set<unknown>([value])
  // What is added while the loop runs is met by it, too.
  for (const next of met) {
    if (!isPlain(next)) continue
    Object.freeze(next)
    for (const key of Reflect.ownKeys(next)) met.add(Object.getOwnPropertyDescriptor(next, key)?.value)
  }
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Array.isArray(value)
}
