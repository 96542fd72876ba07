import { expect, it, jest } from '@jest/globals'
import { RouteWarnings } from '../../src/route/route-warnings.ts'

it.each([
  ['user', 'req.user', "allowReads: ['user']"],
  ['runtime', 'event.runtime', 'No option allows this read'],
])('the warning of a read of %s names a cure that there is', (name, expression, cure) => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const warning = new RouteWarnings(1000, undefined)
  warning.givePersonalRead({ name, expression, position: 'app.ts:7' }, '/products?page=1')
  warning.givePersonalRead({ name, expression, position: 'app.ts:8' }, '/products')
  expect(warned.mock.calls.map(([message]) => String(message))).toEqual([expect.stringContaining(cure)])
  warned.mockRestore()
})
