import {
  Controller,
  Get,
  type INestApplication,
  Version,
  type VERSION_NEUTRAL,
  type VersioningOptions,
  VersioningType,
} from '@nestjs/common'
import { expect, test } from '@jest/globals'
import { Cached } from '../src/index.ts'
import { describeOnBoth, type Site, startSite } from './support/site.ts'

const cached = { ttl: '10s', staleWhileRevalidate: '1m' } as const

function pagesOf(version: string | typeof VERSION_NEUTRAL, name: string) {
  @Controller({ path: 'page', version })
  class Pages {
    runs = 0

    @Get()
    @Cached(cached)
    page(): string {
      return `${name}, run ${(this.runs += 1)}`
    }
  }
  return Pages
}

@Controller('page')
class Both {
  runs = 0

  @Get('both')
  @Version(['1', '2'])
  @Cached(cached)
  both(): string {
    return `both, run ${(this.runs += 1)}`
  }
}

const CASES: readonly [
  string,
  VersioningOptions,
  path: (version: string) => string,
  fields: (version: string) => object,
][] = [
  ['the URL', { type: VersioningType.URI }, (version) => `/v${version}/page`, () => ({})],
  [
    'a field',
    { type: VersioningType.HEADER, header: 'X-Api-Version' },
    () => '/page',
    (version) => ({ 'x-api-version': version }),
  ],
  [
    'the media type',
    { type: VersioningType.MEDIA_TYPE, key: 'v=' },
    () => '/page',
    (version) => ({ accept: `application/json;v=${version}` }),
  ],
  [
    'a function',
    {
      type: VersioningType.CUSTOM,
      extractor: (request) => String((request as { headers: Record<string, string> }).headers['x-mine']),
    },
    () => '/page',
    (version) => ({ 'x-mine': version }),
  ],
]

describeOnBoth('versions', (platform) => {
  async function onSite(setUp: (app: INestApplication) => unknown, body: (site: Site) => Promise<void>): Promise<void> {
    const controllers = [pagesOf('1', 'one'), pagesOf('2', 'two'), Both]
    const site = await startSite(platform, { controllers, setUp })
    try {
      await body(site)
    } finally {
      await site.close()
    }
  }

  test.each(CASES)(
    'that %s tells have entries of their own, which are refreshed',
    async (_, versioning, path, fieldsOf) => {
      await onSite(
        (app) => app.enableVersioning(versioning),
        async ({ get, runtime, cache }) => {
          const visit = (version: string) => get(path(version), fieldsOf(version) as Record<string, string>)
          for (const [version, name] of [
            ['1', 'one'],
            ['2', 'two'],
          ] as const) {
            expect(await visit(version)).toMatchObject({
              text: `${name}, run 1`,
              cache: 'fwd=uri-miss; stored; ttl=10',
            })
            expect(await visit(version)).toMatchObject({ text: `${name}, run 1`, cache: 'hit; ttl=10' })
          }
          await runtime.advance(11_000)
          const refreshed = new Promise((resolve) => cache.on('commit', resolve))
          await visit('2')
          await refreshed
          expect(await visit('2')).toMatchObject({ text: 'two, run 2', cache: 'hit; ttl=10' })
        },
      )
    },
  )

  test('that share a handler share its entry', async () => {
    await onSite(
      (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'x-api-version' }),
      async ({ get }) => {
        for (const version of ['1', '2'])
          expect(await get('/page/both', { 'x-api-version': version })).toMatchObject({ text: 'both, run 1' })
      },
    )
  })

  test('under a global prefix are cached at their whole URL', async () => {
    await onSite(
      (app) => {
        app.setGlobalPrefix('api')
        app.enableVersioning({ type: VersioningType.URI })
      },
      async ({ get }) => {
        await get('/api/v1/page')
        expect(await get('/api/v1/page')).toMatchObject({ text: 'one, run 1', cache: 'hit; ttl=10' })
      },
    )
  })
})
