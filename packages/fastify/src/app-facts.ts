import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { symbolOf } from './internals.ts'

/** A request, with its route under a symbol of Fastify. */
type Routed = FastifyRequest & Readonly<Record<symbol, { readonly onSend?: readonly unknown[] | null } | undefined>>

interface PathOptions {
  readonly caseSensitive?: boolean | undefined
  readonly ignoreTrailingSlash?: boolean | undefined
}

/** What an app shows of its requests; each is true where Fastify does not show it. */
export class AppFacts {
  /** The app takes paths for one that differ in case or in a trailing slash. */
  readonly foldsPaths: boolean
  #context: symbol | undefined
  #serializer: symbol | undefined

  constructor({ initialConfig }: FastifyInstance) {
    const { routerOptions = {} } = initialConfig
    this.foldsPaths = [initialConfig, routerOptions].some(
      ({ caseSensitive, ignoreTrailingSlash }: PathOptions) => caseSensitive === false || ignoreTrailingSlash === true,
    )
  }

  /** An `onSend` hook of others may get the payloads of this request's route. */
  hasOnSend(request: FastifyRequest): boolean {
    this.#context ??= symbolOf(request, 'fastify.context')
    return this.#context === undefined || (request as Routed)[this.#context]?.onSend?.length !== 1
  }

  /** Somebody has chosen a serializer for this reply. */
  hasSerializer(reply: FastifyReply): boolean {
    this.#serializer ??= symbolOf(reply, 'fastify.reply.serializer')
    return this.#serializer === undefined || Reflect.get(reply, this.#serializer) !== null
  }
}
