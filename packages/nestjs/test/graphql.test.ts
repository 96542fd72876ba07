import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo'
import { Args, Context, GraphQLModule, Mutation, Query, Resolver } from '@nestjs/graphql'
import type { Type } from '@nestjs/common'
import { APP_INTERCEPTOR } from '@nestjs/core'
import type { Cache } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import { Cached, CacheInterceptor, CacheTTL, InjectCache, InvalidateTags } from '../src/index.ts'
import { type Site, type SiteOptions, startSite } from './support/site.ts'

const imports = [
  GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    // So that a query may come by GET.
    csrfPrevention: false,
    context: ({ req }: { readonly req: { readonly headers: Readonly<Record<string, unknown>> } }) => ({
      user: req.headers['x-user'],
    }),
  }),
]

@Resolver()
class CachedQuery {
  @Query(() => String)
  @Cached({ ttl: '1m' })
  me(@Context('user') user: string): string {
    return user
  }
}

@Cached({ ttl: '1m' })
@Resolver()
class CachedResolver {
  @Query(() => String)
  me(@Context('user') user: string): string {
    return user
  }
}

/** Resolvers that cache values. */
@Resolver()
class Products {
  runs = 0
  price = 5
  readonly cache: Cache

  constructor(@InjectCache() cache: Cache) {
    this.cache = cache
  }

  @Query(() => String)
  async priceOf(@Args('name') name: string): Promise<string> {
    return await this.cache.getOrSet(
      `price:${name}`,
      async () => {
        this.runs += 1
        return `${this.price}`
      },
      { ttl: '1m', tags: [`product:${name}`] },
    )
  }

  @Query(() => String)
  @CacheTTL('1m')
  me(@Context('user') user: string): string {
    return user
  }

  @Mutation(() => String)
  @InvalidateTags((_result: string, args: { readonly name: string }) => [`product:${args.name}`])
  raise(@Args('name') name: string): string {
    this.price += 1
    return name
  }
}

const REFUSED: readonly (readonly [string, Type, string])[] = [
  ['a query', CachedQuery, 'CachedQuery.me'],
  ['a resolver', CachedResolver, 'CachedResolver.me'],
]

describe('GraphQL on Apollo', () => {
  async function onSite(body: (site: Site) => Promise<void>, options: SiteOptions = {}): Promise<void> {
    const site = await startSite('Express', { imports, providers: [Products], ...options })
    try {
      await body(site)
    } finally {
      await site.close()
    }
  }

  async function ask({ send }: Site, query: string, user = 'ann'): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'x-user': user }
    const { text } = await send('/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) })
    return (JSON.parse(text) as { readonly data: unknown }).data
  }

  test.each(REFUSED)(
    '%s with @Cached() keeps the app from starting, and the error says what to do',
    async (_, resolver, title) => {
      const started = startSite('Express', { imports, providers: [resolver] })
      await expect(started).rejects.toThrow(`@Cached() on ${title}`)
      await expect(started).rejects.toThrow(/cache\.getOrSet\(\)/)
    },
  )

  test('a resolver caches the value by cache.getOrSet(), and @InvalidateTags() on a mutation ends it', async () => {
    await onSite(async (site) => {
      for (const _ of [1, 2]) expect(await ask(site, '{ priceOf(name: "gate") }')).toEqual({ priceOf: '5' })
      expect(site.app.get(Products).runs).toBe(1)
      expect(await ask(site, 'mutation { raise(name: "gate") }')).toEqual({ raise: 'gate' })
      expect(await ask(site, '{ priceOf(name: "gate") }')).toEqual({ priceOf: '6' })
    })
  })

  test('CacheInterceptor for the whole app gives no user the result of another one, by POST or by GET', async () => {
    await onSite(
      async (site) => {
        for (const user of ['ann', 'ben']) {
          expect(await ask(site, '{ me }', user)).toEqual({ me: user })
          expect(await site.get('/graphql?query=%7Bme%7D', { 'x-user': user })).toMatchObject({
            text: `{"data":{"me":"${user}"}}\n`,
            cache: 'undefined',
          })
        }
      },
      { providers: [Products, { provide: APP_INTERCEPTOR, useClass: CacheInterceptor }], defaults: { ttl: '1m' } },
    )
  })
})
