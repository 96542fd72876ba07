import { describe, expect, test } from '@jest/globals'
import { hasPropertyTable, tablesPay } from '../../../../../test/support/property-tables.ts'
import { keepPropertiesInTable } from '../../../src/node/capture/property-table.ts'

class Message {
  method = 'GET'
  url = '/'
}

function withReplacedPrototype(): Message {
  return Object.setPrototypeOf(new Message(), Object.create(Message.prototype)) as Message
}

describe('the properties of an object', () => {
  test('whose prototype was replaced are in a table, on Node 20 and 22', () => {
    const message = withReplacedPrototype()
    keepPropertiesInTable(message, 'method')
    expect(hasPropertyTable(message)).toBe(tablesPay)
  })

  test('stay what they are in the table, with their attributes', () => {
    const message = Object.defineProperty(withReplacedPrototype(), 'method', { enumerable: true, writable: false })
    const before = Object.getOwnPropertyDescriptors(message)
    keepPropertiesInTable(message, 'method')
    expect(Object.getOwnPropertyDescriptors(message)).toEqual(before)
  })

  test('are left as they are where the prototype is that of a class', () => {
    const message = new Message()
    keepPropertiesInTable(message, 'method')
    expect(hasPropertyTable(message)).toBe(false)
  })

  test.each([
    ['is frozen', Object.freeze(withReplacedPrototype())],
    ['can get no further property', Object.preventExtensions(withReplacedPrototype())],
    ['has no such property', Object.create(Object.create(null) as object) as object],
  ])('are left as they are where the object %s', (_, object) => {
    const before = Object.getOwnPropertyDescriptors(object)
    keepPropertiesInTable(object, 'method')
    expect(Object.getOwnPropertyDescriptors(object)).toEqual(before)
  })
})
