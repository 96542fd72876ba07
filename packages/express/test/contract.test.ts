import { describeAdapterContract } from '@cattlegrid/testkit'
import { startExpress } from './contract-app.ts'

describeAdapterContract('Express', (cache, routes) => startExpress(cache, routes))
