import { expect, test } from '@jest/globals'
import { FailedSubrequests } from '../../src/road/failed-subrequests.ts'
import { NoSharedResult, isNoSharedResult } from '../../src/response/errors.ts'

test('the latest 1,000 keys whose subrequest brought nothing are remembered, at most twice as many, and none whose subrequest failed', async () => {
  const runtime = { elapsed: () => 0 }
  const failed = new FailedSubrequests()
  const sent: string[] = []
  const ask = async (key: string, error: Error = new NoSharedResult('its answer cannot be stored')): Promise<unknown> =>
    await failed
      .sendUnlessFailed(key, runtime, () => {
        sent.push(key)
        return Promise.reject(error)
      })
      .catch((reason: unknown) => isNoSharedResult(reason))
  expect(await ask('failed', new Error('closed'))).toBe(false)
  for (let index = 1; index <= 2001; index += 1) expect(await ask(`key ${index}`)).toBe(true)
  sent.length = 0
  for (const key of ['key 1002', 'key 2001', 'key 1', 'failed']) expect(await ask(key)).toBe(true)
  expect(sent).toEqual(['key 1', 'failed'])
})
