// What the reader of an excerpt has at home: excerpts of the documents name these without declaring them.
import type { Cache as CattlegridCache } from '@cattlegrid/core'
import type { Diagnosis } from '@cattlegrid/explain'
import type * as cattlegridHttp from '@cattlegrid/http'
import type * as cattlegridLogs from '@cattlegrid/metrics/logs'
import type * as cattlegridNest from '@cattlegrid/nestjs'
import type * as nestCommon from '@nestjs/common'
import type * as nestGraphql from '@nestjs/graphql'
import type { Express } from 'express'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'

declare global {
  const app: Express
  const cache: CattlegridCache
  const diagnosis: Diagnosis
  const id: string
  const req: IncomingMessage
  const res: ServerResponse
  const defaults: cattlegridHttp.RouteOptions
  const options: cattlegridHttp.RouteOptions
  const MyExchange: new (req: IncomingMessage, res: ServerResponse, place: number) => cattlegridHttp.Exchange
  const { httpCache, compileRoute, nextDeclaration, serve }: typeof cattlegridHttp
  const { logEvents }: typeof cattlegridLogs
  const { Cached, CattlegridModule, InjectCache, InvalidateTags }: typeof cattlegridNest
  const { Controller, Get, Module, Param }: typeof nestCommon
  const { Args, Mutation, Query, Resolver }: typeof nestGraphql
  type Cache = CattlegridCache
  class Product {
    id: string
  }
  class ProductsService {
    find(id: string): Promise<Product>
    rename(id: string, name: string): Promise<Product>
  }
  function findUser(id: string): Promise<object>
  function pino(): Logger
}
