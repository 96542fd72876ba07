import { describeAdapterContract } from '@cattlegrid/testkit'
import { startKoa } from './contract-app.ts'

describeAdapterContract('Koa', startKoa)
