/** V8 of Node 24 shares the hidden classes of objects whose prototype was replaced alike. */
const SHARES_HIDDEN_CLASSES = Number.parseInt(process.versions.v8, 10) >= 13

/**
 * Makes V8 keep the properties of an object in a table, if its prototype was replaced, as Express does with
 * each request and response. On Node 20 and 22 each property that is added afterwards makes a hidden class
 * for this object alone, which stays until a major collection; a table takes it at once. See
 * docs/decisions/0013.
 *
 * @param name a property of the object that was not added last; without it, nothing is done.
 */
export function keepPropertiesInTable(object: object, name: string): void {
  if (SHARES_HIDDEN_CLASSES || !hasReplacedPrototype(object)) return
  const property = Object.getOwnPropertyDescriptor(object, name)
  if (property?.configurable !== true || !Object.isExtensible(object)) return
  // Then V8 makes the table.
  Reflect.deleteProperty(object, name)
  Object.defineProperty(object, name, property)
}

/** True if the object has a prototype, and that is no class's. */
function hasReplacedPrototype(object: object): boolean {
  const prototype = Object.getPrototypeOf(object) as object | null
  return prototype !== null && !Object.hasOwn(prototype, 'constructor')
}
