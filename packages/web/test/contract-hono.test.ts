import { describe, test } from '@jest/globals'
import { describeAdapterContract } from '@cattlegrid/testkit'
import { startHono } from './support/contract-app.ts'

describeAdapterContract('Hono', startHono, { describe, test }, undefined, 'fetch')
