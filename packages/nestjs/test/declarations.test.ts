import {
  All,
  Controller,
  Get,
  Injectable,
  type MessageEvent,
  Post,
  Sse,
  type Type,
  UseInterceptors,
} from '@nestjs/common'
import { APP_INTERCEPTOR } from '@nestjs/core'
import * as nestKeys from '@nestjs/common/constants.js'
import { of } from 'rxjs'
import { describe, expect, test } from '@jest/globals'
import { Cached, CacheInterceptor, CacheTTL } from '../src/index.ts'
import { NEST_KEYS } from '../src/handler-metadata.ts'
import { describeOnBoth, type Site, type SiteOptions, startSite } from './support/site.ts'

test('the keys of Nest’s metadata are those of Nest', () => {
  const { PATH_METADATA, METHOD_METADATA, HOST_METADATA, VERSION_METADATA } = nestKeys
  const { GUARDS_METADATA, INTERCEPTORS_METADATA, SSE_METADATA } = nestKeys
  expect(NEST_KEYS).toEqual({
    path: PATH_METADATA,
    method: METHOD_METADATA,
    host: HOST_METADATA,
    version: VERSION_METADATA,
    guards: GUARDS_METADATA,
    interceptors: INTERCEPTORS_METADATA,
    sse: SSE_METADATA,
  })
})

/** As `@Resolver()` of GraphQL makes it: a provider. */
@Injectable()
class Resolver {
  @Cached({ ttl: '1m' })
  products(): readonly string[] {
    return []
  }
}

@Cached({ ttl: '1m' })
@Injectable()
class CachedResolver {
  products(): readonly string[] {
    return []
  }
}

/** As `@MessagePattern()` of a microservice leaves it: a method of a controller, without a route. */
@Controller()
class Messages {
  @Cached({ ttl: '1m' })
  total(): number {
    return 1
  }
}

@Controller()
class Writes {
  @Post()
  @Cached({ ttl: '1m' })
  write(): string {
    return 'written'
  }
}

@Controller()
class Events {
  @Sse()
  @Cached({ ttl: '1m' })
  events(): unknown {
    return of({ data: 'a' } satisfies MessageEvent)
  }
}

@Controller()
class Misspelt {
  @Get()
  @Cached({ ttl: '30 parsecs' as '30s' })
  page(): string {
    return 'page'
  }
}

const REFUSED: readonly [string, SiteOptions, RegExp][] = [
  ['a resolver’s method', { providers: [Resolver] }, /@Cached\(\) on Resolver\.products.*getOrSet/],
  ['a resolver', { providers: [CachedResolver] }, /@Cached\(\) on CachedResolver\.products/],
  ['a message handler', { controllers: [Messages] }, /@Cached\(\) on Messages\.total.*handles no HTTP requests/],
  ['a handler of POST requests', { controllers: [Writes] }, /@Cached\(\) on Writes\.write.*POST.*@InvalidateTags/],
  ['an event stream', { controllers: [Events] }, /@Cached\(\) on Events\.events.*@Sse\(\)/],
  ['a handler with a wrong option', { controllers: [Misspelt] }, /@Cached\(\) on Misspelt\.page\.ttl.*parsecs/],
]

describe('an app', () => {
  test.each(REFUSED)('does not start with @Cached() on %s, and says what to do', async (_, options, message) => {
    await expect(startSite('Express', options)).rejects.toThrow(message)
  })
})

/** What every controller below has. */
class Shop {
  runs = 0

  get run(): string {
    return `run ${(this.runs += 1)}`
  }
}

@Cached({ ttl: '10s', invalidateOnUnsafe: true, staleWhileRevalidate: '1m' })
@Controller('shop')
class CachedShop extends Shop {
  @Get('products')
  products(): string {
    return this.run
  }

  @Get('longer')
  @Cached({ ttl: '1h' })
  longer(): string {
    return this.run
  }

  @Get('excluded')
  @Cached(false)
  excluded(): string {
    return this.run
  }

  @Post('products')
  add(): string {
    return this.run
  }

  @All('any')
  any(): string {
    return this.run
  }
}

@Controller('marked')
@UseInterceptors(CacheInterceptor)
class MarkedShop extends Shop {
  @Get('products')
  @CacheTTL(7000)
  products(): string {
    return this.run
  }

  @Get('default')
  byDefault(): string {
    return this.run
  }
}

@Controller('plain')
class PlainShop extends Shop {
  @Get('products')
  products(): string {
    return this.run
  }

  @Get('declared')
  @CacheTTL('20s')
  declared(): string {
    return this.run
  }
}

const ALL: readonly Type[] = [CachedShop, MarkedShop, PlainShop]

describeOnBoth('a declaration', (platform) => {
  async function onSite(body: (site: Site) => Promise<void>, options: SiteOptions = {}): Promise<void> {
    const site = await startSite(platform, { controllers: ALL, ...options })
    try {
      await body(site)
    } finally {
      await site.close()
    }
  }

  test.each([
    ['/shop/products', 'fwd=uri-miss; stored; ttl=10'],
    ['/shop/longer', 'fwd=uri-miss; stored; ttl=3600'],
    ['/shop/excluded', 'undefined'],
    ['/shop/any', 'fwd=uri-miss; stored; ttl=10'],
    ['/marked/products', 'fwd=uri-miss; stored; ttl=7'],
    ['/marked/default', 'fwd=uri-miss; stored; ttl=5'],
    ['/plain/products', 'undefined'],
  ])('of %s makes the first response say %s', async (path, cache) => {
    await onSite(async ({ get }) => expect(await get(path)).toMatchObject({ text: 'run 1', cache }), {
      defaults: { ttl: '5s' },
    })
  })

  test('of a controller lets its writes invalidate the URL, by option', async () => {
    await onSite(async ({ get, send }) => {
      await get('/shop/products')
      expect(await send('/shop/products', { method: 'POST' })).toMatchObject({ status: 201, cache: 'fwd=method' })
      expect(await get('/shop/products')).toMatchObject({ text: 'run 3' })
    })
  })

  test.each<[string, SiteOptions]>([
    ['a module', { providers: [{ provide: APP_INTERCEPTOR, useClass: CacheInterceptor }] }],
    ['the app', { setUp: (app) => app.useGlobalInterceptors(new CacheInterceptor()) }],
  ])('of CacheInterceptor for %s stores only what declares its lifetime', async (_, options) => {
    await onSite(
      async ({ get }) => {
        expect(await get('/plain/products')).toMatchObject({ cache: 'fwd=uri-miss; detail=no-freshness' })
        expect(await get('/plain/declared')).toMatchObject({ cache: 'fwd=uri-miss; stored; ttl=20' })
      },
      { ...options, defaults: { ttl: '5s' } },
    )
  })
})
