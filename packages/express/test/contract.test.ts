import { describeAdapterContract } from '@cattlegrid/testkit'
import { startExpress } from './support/contract-app.ts'

describeAdapterContract('Express', (cache, routes) => startExpress(cache, routes))
