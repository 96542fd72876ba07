import { describeAdapterContract } from '@cattlegrid/testkit'
import { beforeAll, jest } from '@jest/globals'
import { expressCache } from '../src/index.ts'
import { startExpress } from './support/contract-app.ts'

let otherCopy = expressCache
beforeAll(async () => {
  await jest.isolateModulesAsync(async () => {
    otherCopy = (await import('../src/index.ts')).expressCache
  })
})

describeAdapterContract('Express, with routes by turns of two copies of the package,', (cache, routes) =>
  startExpress(cache, routes, undefined, [expressCache, otherCopy]),
)
