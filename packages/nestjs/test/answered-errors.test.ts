import { type ArgumentsHost, Catch, Controller, type ExceptionFilter, Get } from '@nestjs/common'
import type { HttpAdapterHost } from '@nestjs/core'
import { HttpAdapterHost as AdapterHost } from '@nestjs/core'
import { expect, test } from '@jest/globals'
import { Cached } from '../src/index.ts'
import { describeOnBoth, startSite } from './support/site.ts'

describeOnBoth('an exception filter that answers 200', (platform) => {
  test('makes no page of the error of a handler', async () => {
    let runs = 0
    @Controller()
    class Pages {
      @Get('a')
      @Cached({ ttl: '1m', failureCooldown: { min: 1, max: 1 } })
      async page(): Promise<string> {
        runs += 1
        if (runs === 1) throw new Error('no database')
        return 'page'
      }
    }
    let host: HttpAdapterHost | undefined
    @Catch()
    class Apologies implements ExceptionFilter {
      catch(_error: unknown, at: ArgumentsHost): void {
        host?.httpAdapter.reply(at.switchToHttp().getResponse(), 'sorry', 200)
      }
    }
    const site = await startSite(platform, {
      controllers: [Pages],
      setUp: (app) => {
        host = app.get(AdapterHost)
        app.useGlobalFilters(new Apologies())
      },
    })
    try {
      expect((await site.get('/a')).text).toBe('sorry')
      await site.runtime.advance(1000)
      expect([(await site.get('/a')).text, (await site.get('/a')).text, runs]).toEqual(['page', 'page', 2])
    } finally {
      await site.close()
    }
  })
})
