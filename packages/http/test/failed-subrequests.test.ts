import { expect, test } from '@jest/globals'
import { FailedSubrequests } from '../src/lookup/failed-subrequests.ts'
import { NoSharedResult, isNoSharedResult } from '../src/response/errors.ts'

test('the latest 1,000 keys whose subrequest brought nothing are remembered, and those whose subrequest failed are not', async () => {
  const runtime = { now: () => 0 }
  const failed = new FailedSubrequests()
  const sent: string[] = []
  const ask = async (key: string, error: Error = new NoSharedResult('its answer cannot be stored')): Promise<unknown> =>
    await failed
      .skipOr(key, runtime, () => {
        sent.push(key)
        return Promise.reject(error)
      })
      .catch((reason: unknown) => isNoSharedResult(reason))
  expect(await ask('failed', new Error('closed'))).toBe(false)
  for (let index = 0; index <= 1000; index += 1) expect(await ask(`key ${index}`)).toBe(true)
  sent.length = 0
  for (const key of ['key 1', 'key 1000', 'key 0', 'failed']) expect(await ask(key)).toBe(true)
  expect(sent).toEqual(['key 0', 'failed'])
})
