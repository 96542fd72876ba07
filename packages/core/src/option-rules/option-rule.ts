/** Parses an option to what it means, such as ms, bytes or itself. */
export interface OptionRule<T> {
  /** The accepted values, in words, for the message of an error. */
  readonly accepted: string
  /**
   * Returns undefined for a value that is not accepted. `path` makes the option's full name, for errors about
   * options inside it.
   */
  parse(value: unknown, path?: () => string): T | undefined
}

/** A rule for every option of one interface. The compiler asks for each key. */
export type OptionRules<O> = { readonly [K in keyof Required<O>]: OptionRule<unknown> }
