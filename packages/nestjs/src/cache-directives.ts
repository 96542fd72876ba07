import type { ServerResponse } from 'node:http'
import { directivesOf, type ResponseDirectives } from '@cattlegrid/http'
import { createParamDecorator, type ExecutionContext } from '@nestjs/common'

/**
 * Gives a cached handler the decisions about its own response, to be made before it returns.
 *
 * @example
 * @Get(':id')
 * @Cached({ ttl: '1m' })
 * find(@Param('id') id: string, @CacheDirectives() cache: ResponseDirectives) {
 *   if (isDraft(id)) cache.noStore()
 * }
 */
export const CacheDirectives: () => ParameterDecorator = createParamDecorator(directivesIn)

function directivesIn(_data: unknown, context: ExecutionContext): ResponseDirectives {
  const response = context.switchToHttp().getResponse<ServerResponse | { readonly raw: ServerResponse }>()
  return directivesOf('raw' in response ? response.raw : response)
}
