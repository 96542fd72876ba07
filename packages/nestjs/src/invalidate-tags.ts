import type { Cache } from '@cattlegrid/core'
import { checkValue, rule } from '@cattlegrid/core/extend'
import { invalidateAfterWrite } from '@cattlegrid/http'
import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import { concatMap, type Observable } from 'rxjs'
import type { CachedRequest, CachedResponse } from './cached.ts'
import { CATTLEGRID_CACHE } from './inject-cache.ts'

export const TAGS = 'cattlegrid:invalidated-tags'

type Tags = readonly string[]
type TagsOf<Result, Input> = (result: Result, input: Input) => Tags

/**
 * Invalidates tags after the handler has succeeded, and before its response is sent: its client reads nothing
 * old afterwards. The tags may depend on what the handler returned, and on its input: the request; in a
 * GraphQL resolver the arguments; in a handler of messages, also of a gateway, the data. Nothing is
 * invalidated if the handler throws, or sets a status of 400 or more. The write is done by then, and its
 * response is sent whatever becomes of the tags: while the store is away they are tried again behind for
 * about 10 minutes, and a warning tells of tags that cannot be made or sent.
 *
 * A handler that sends its own response (`@Res()` without `passthrough`) has sent it before.
 *
 * @throws InvalidOptionError for anything but a list of tags or a function.
 * @example
 * @Put(':id')
 * @InvalidateTags((product: Product) => [`product:${product.id}`, 'products'])
 * update(@Body() body: Product): Promise<Product> {}
 */
export function InvalidateTags<Result = unknown, Input = CachedRequest>(
  tags: Tags | TagsOf<Result, Input>,
): MethodDecorator & ClassDecorator {
  checkValue('@InvalidateTags()', tags, tagsRule)
  return applyDecorators(SetMetadata(TAGS, tags), UseInterceptors(TagInvalidator))
}

const tagsRule = rule.either(rule.tags(), rule.function('a function (result, input) => tags'))

class TagInvalidator implements NestInterceptor {
  readonly #cache: Cache
  readonly #reflector = new Reflector()

  constructor(cache: Cache) {
    this.#cache = cache
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const tags = this.#reflector.getAllAndOverride<Tags | TagsOf<unknown, unknown>>(TAGS, [
      context.getHandler(),
      context.getClass(),
    ])
    return next.handle().pipe(
      concatMap(async (result: unknown) => {
        if (hasFailed(context)) return result
        const named = (): Tags => (typeof tags === 'function' ? tags(result, inputOf(context)) : tags)
        const write = `The write of ${context.getClass().name}.${context.getHandler().name}`
        await invalidateAfterWrite(this.#cache, write, named)
        return result
      }),
    )
  }
}
Injectable()(TagInvalidator)
Inject(CATTLEGRID_CACHE)(TagInvalidator, undefined, 0)

function hasFailed(context: ExecutionContext): boolean {
  return context.getType() === 'http' && context.switchToHttp().getResponse<CachedResponse>().statusCode >= 400
}

/**
 * The arguments of a handler begin with the request, or with the data of a message; those of a resolver with
 * its parent, before its arguments, and those of a gateway with the socket, before the data.
 */
function inputOf(context: ExecutionContext): unknown {
  const isSecond = ['graphql', 'ws'].includes(context.getType<string>())
  return context.getArgByIndex<unknown>(isSecond ? 1 : 0)
}
