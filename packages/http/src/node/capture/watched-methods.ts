import type { FieldWriters } from './field-writers.ts'
import type { CallOriginal } from './response-methods.ts'

/** The methods of a response, or of a framework's reply, by which fields are read and written. */
export interface FieldMethods {
  readonly get: (name: unknown) => unknown
  readonly getAll: () => unknown
  readonly set: (name: unknown, value: unknown) => unknown
  readonly append: (name: unknown, value: unknown) => unknown
  readonly remove: (name: unknown) => unknown
}

/** Whose code runs. */
export interface Side {
  /** Certainly that of a layer outside. */
  readonly isOutside: boolean
  /** Certainly the handler's. */
  readonly isHandler: boolean
}

/** Who is told. */
export interface Watch {
  readonly writers: FieldWriters
  readonly side: Side
  /** Called before a field is set, or a line is added to it. */
  readonly onSet: (name: unknown) => void
}

/** Makes methods that note who writes and reads. */
export function watchedMethods(methods: FieldMethods, { writers, side, onSet }: Watch): FieldMethods {
  return {
    get(name) {
      const value = methods.get(name)
      return side.isHandler ? writers.read(name, value) : value
    },
    getAll() {
      if (side.isHandler) writers.readAll()
      return methods.getAll()
    },
    set(name, given) {
      onSet(name)
      const inside = !side.isOutside
      const isVary = inside && typeof name === 'string' && name.toLowerCase() === 'vary'
      const value = isVary ? writers.varyToSet(given, side.isHandler ? undefined : methods.get(name)) : given
      const returned = methods.set(name, value)
      // A layer outside may have replaced the method: what it makes of the value is its own.
      writers.set(name, value, methods.get(name), inside)
      return returned
    },
    append(name, value) {
      onSet(name)
      const note = writers.appending(name, value, !side.isOutside)
      const returned = methods.append(name, value)
      note(methods.get(name))
      return returned
    },
    remove(name) {
      const returned = methods.remove(name)
      writers.remove(name)
      return returned
    },
  }
}

/** The same for Node's response. `read` and `write` call its methods; `write` as those of a layer outside. */
export function watchedNodeMethods(
  { read, write }: { readonly read: CallOriginal; readonly write: CallOriginal },
  watch: Watch,
): Record<'getHeader' | 'getHeaders' | 'setHeader' | 'appendHeader' | 'removeHeader', (...args: unknown[]) => unknown> {
  const plain: FieldMethods = {
    get: (name) => read('getHeader', [name]),
    getAll: () => read('getHeaders', []),
    set: (name, value) => write('setHeader', [name, value]),
    append: (name, value) => write('appendHeader', [name, value]),
    remove: (name) => write('removeHeader', [name]),
  }
  const { get, getAll, set, append, remove } = watchedMethods(plain, watch)
  return { getHeader: get, getHeaders: getAll, setHeader: set, appendHeader: append, removeHeader: remove }
}
