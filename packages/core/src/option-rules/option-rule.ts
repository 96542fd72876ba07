/** Parses an option to what it means (ms, bytes, itself), or to `INVALID`. */
export interface OptionRule<T> {
  readonly accepted: string
  /** `path`: makes the option's full name, for errors about options inside it. */
  parse(value: unknown, path?: () => string): T | typeof INVALID
}

/** The result of a rule for a value that it does not accept. */
export const INVALID: unique symbol = Symbol('invalid')

/** A rule for every option of one interface; the compiler asks for each key. */
export type OptionRules<O> = { readonly [K in keyof Required<O>]: OptionRule<unknown> }
