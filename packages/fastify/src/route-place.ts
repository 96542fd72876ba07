import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Distinguishes routes of one URL. */
export interface RoutePlace {
  readonly name: string
  /** Request fields without which Fastify would choose another route, such as one of another version. */
  readonly routingFields: Readonly<Record<string, string>> | undefined
  /** The path as declared, where the app ignores the case of paths or their trailing slash. */
  readonly folded: string | undefined
  /** True if an `onSend` hook of others may get the payloads of this request's route. */
  readonly hasOnSend: (request: FastifyRequest) => boolean
  /** True if somebody has chosen a serializer for this reply. */
  readonly hasSerializer: (reply: FastifyReply) => boolean
}

/** True if the app takes paths for one that differ in case or in a trailing slash. */
export function foldsPaths({ initialConfig }: FastifyInstance): boolean {
  const { routerOptions = {} } = initialConfig
  return [initialConfig, routerOptions].some(
    ({ caseSensitive, ignoreTrailingSlash }: PathOptions) => caseSensitive === false || ignoreTrailingSlash === true,
  )
}

interface PathOptions {
  readonly caseSensitive?: boolean | undefined
  readonly ignoreTrailingSlash?: boolean | undefined
}
