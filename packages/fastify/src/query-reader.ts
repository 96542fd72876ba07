import { parse } from 'node:querystring'
import type { FastifyInstance } from 'fastify'
import { internalIn } from './internals.ts'

/** Reads the queries of URLs as the router of one app does. */
export interface QueryReader {
  /** The text that the router takes for the query; empty where there is none. */
  textIn(url: string): string
  parse(text: string): unknown
}

interface RouterOptions {
  readonly querystringParser?: ((text: string) => unknown) | undefined
  readonly useSemicolonDelimiter?: boolean | undefined
}

const readers = new WeakMap<FastifyInstance, QueryReader>()

export function queryReaderOf(app: FastifyInstance): QueryReader {
  let reader = readers.get(app)
  if (reader === undefined) readers.set(app, (reader = newReader(app)))
  return reader
}

function newReader(app: FastifyInstance): QueryReader {
  const start = routerOption(app, 'useSemicolonDelimiter') === true ? /[?#;]/ : /[?#]/
  return {
    textIn(url) {
      // The router takes the first character for the slash.
      const index = url.slice(1).search(start)
      return index < 0 ? '' : url.slice(index + 2)
    },
    parse: routerOption(app, 'querystringParser') ?? ((text) => (text === '' ? {} : parse(text))),
  }
}

/**
 * An option of the router, as the app got it: among those of the router, or, in earlier versions of Fastify,
 * among its own.
 */
function routerOption<Name extends keyof RouterOptions>(app: FastifyInstance, name: Name): RouterOptions[Name] {
  const initial: RouterOptions & { readonly routerOptions?: RouterOptions | undefined } = app.initialConfig
  // `initialConfig` lacks functions. An encapsulated app inherits the options.
  const given: typeof initial | undefined = internalIn(app, 'fastify.options')
  const options = [given?.routerOptions, given, initial.routerOptions, initial]
  // `initialConfig` has the default beside the value that was given elsewhere.
  return options.map((some) => some?.[name]).find(Boolean)
}
