import { describeAdapterContract } from '@cattlegrid/testkit'
import { startNest } from './support/contract-app.ts'

describeAdapterContract('NestJS on Fastify', (cache, routes) => startNest('Fastify', cache, routes))
