import { describeAdapterContract } from '@cattlegrid/testkit'
import { startFastify } from './support/contract-app.ts'

describeAdapterContract('Fastify', startFastify)
