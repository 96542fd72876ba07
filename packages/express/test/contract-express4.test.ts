import { describeAdapterContract } from '@cattlegrid/testkit'
import express4 from 'express4'
import { startExpress } from './support/contract-app.ts'

describeAdapterContract('Express 4', (cache, routes) => startExpress(cache, routes, express4))
