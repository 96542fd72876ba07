import { describeAdapterContract } from '@cattlegrid/testkit'
import { startNest } from './support/contract-app.ts'

describeAdapterContract('NestJS on Express', (cache, routes) => startNest('Express', cache, routes))
