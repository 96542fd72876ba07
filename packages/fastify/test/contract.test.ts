import { describeAdapterContract } from '@cattlegrid/testkit'
import { startFastify } from './contract-app.ts'

describeAdapterContract('Fastify', startFastify)
