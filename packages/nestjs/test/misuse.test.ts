import 'reflect-metadata'
import { createCache } from '@cattlegrid/core'
import { Controller, Get, Injectable, Module, Post, type Type } from '@nestjs/common'
import { describeMisuses, refused, warned } from '../../../test/misuse/misuse.ts'
import { Cached, CacheTTL, CattlegridModule, InvalidateTags } from '../src/index.ts'
import { createApp } from './support/site.ts'

const cache = createCache()

@Controller()
class Writes {
  @Post()
  @Cached({ ttl: '1m' })
  write(): string {
    return 'written'
  }
}

@Controller()
class TtlAlone {
  @Get()
  @CacheTTL('1m')
  page(): string {
    return 'page'
  }
}

@Controller()
class Pages {
  @Get()
  @Cached({ ttl: '1m' })
  page(): string {
    return 'page'
  }
}

@Injectable()
class Service {
  @InvalidateTags(['products'])
  change(): void {
    // The handler of a controller calls it.
  }
}

/** Starts an app. */
function start(
  controllers: readonly Type[],
  imports: readonly unknown[],
  providers: readonly Type[] = [],
): () => Promise<void> {
  class Root {}
  Module({ imports: imports as Type[], controllers: [...controllers], providers: [...providers] })(Root)
  return async () => {
    const app = await createApp('Express', Root)
    try {
      await app.init()
    } finally {
      await app.close()
    }
  }
}

const cacheModule = (): unknown => CattlegridModule.forRoot({ cache })

describeMisuses('decorators and the module of NestJS', [
  refused(
    '@Cached() stands on a POST',
    /'@Cached\(\) on Writes\.write' is 'a handler of POST requests'; accepted: .*for a write use @InvalidateTags\(\)/,
    start([Writes], [cacheModule()]),
  ),
  warned(
    '@CacheTTL() stands alone',
    'CATTLEGRID_TTL_ALONE',
    /^@CacheTTL\(\) on TtlAlone\.page stands alone, so the handler is not cached: write @Cached\(\{ ttl \}\)/,
    start([TtlAlone], [cacheModule()]),
  ),
  warned(
    '@InvalidateTags() stands on a method of a service',
    'CATTLEGRID_TAGS_NOWHERE',
    /^@InvalidateTags\(\) on Service\.change does nothing: .* Put it on the handler of the controller/,
    start([Pages], [cacheModule()], [Service]),
  ),
  refused(
    '@Cached is used without its call',
    /'@Cached' was not called; accepted: @Cached\(\) or @Cached\(\{ ttl \}\)/,
    () => {
      class Uncalled {
        // @ts-expect-error the types refuse it
        @Cached
        page(): string {
          return 'page'
        }
      }
      return new Uncalled()
    },
  ),
  refused('@InvalidateTags() gets a text', /is 'products' \(did you mean \[ 'products' \]\?\); accepted: a list/, () =>
    // @ts-expect-error the types refuse it
    InvalidateTags('products'),
  ),
  refused('@InvalidateTags() gets an async function', /is an async function \(it must answer at once/, () =>
    // @ts-expect-error the types refuse it
    InvalidateTags(async () => ['products']),
  ),
  refused(
    'no CattlegridModule is imported',
    /CATTLEGRID_CACHE of CattlegridModule\.forRoot\(\)/,
    start([Pages], []),
    '',
  ),
  refused(
    'CattlegridModule is imported without forRoot()',
    /CATTLEGRID_OPTIONS of CattlegridModule\.forRoot\(\)/,
    start([Pages], [CattlegridModule]),
    '',
  ),
  refused(
    'CattlegridModule is imported twice',
    /'CattlegridModule' is 'a second import'; accepted: one import, in the root module/,
    start([Pages], [cacheModule(), CattlegridModule.forRoot({ cache: createCache() })]),
  ),
  refused(
    'forRoot() gets the cache alone',
    /\(did you mean \{ cache \}\?\)/,
    // @ts-expect-error the types refuse it
    () => CattlegridModule.forRoot(cache),
  ),
])
