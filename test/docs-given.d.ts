// What the reader of an excerpt has at home: excerpts of the documents name these without declaring them.
import type { Cache } from '@cattlegrid/core'
import type * as cattlegridHttp from '@cattlegrid/http'
import type * as cattlegridLogs from '@cattlegrid/metrics/logs'
import type * as cattlegridNest from '@cattlegrid/nestjs'
import type { Express } from 'express'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'

declare global {
  const app: Express
  const cache: Cache
  const id: string
  const req: IncomingMessage
  const res: ServerResponse
  const defaults: cattlegridHttp.RouteOptions
  const options: cattlegridHttp.RouteOptions
  const MyExchange: new (req: IncomingMessage, res: ServerResponse) => cattlegridHttp.Exchange
  const { httpCache, compileRoute, serve }: typeof cattlegridHttp
  const { logEvents }: typeof cattlegridLogs
  const { CattlegridModule }: typeof cattlegridNest
  function findUser(id: string): Promise<object>
  function pino(): Logger
  class ConfigService {
    getOrThrow(name: string): string
  }
}
