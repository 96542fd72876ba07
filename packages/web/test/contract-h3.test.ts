import { describe, test } from '@jest/globals'
import { describeAdapterContract } from '@cattlegrid/testkit'
import { startH3 } from './support/contract-h3.ts'

describeAdapterContract('h3', startH3, { describe, test }, undefined, 'fetch')
