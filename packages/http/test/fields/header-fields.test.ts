import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { addToHead, parseHead } from '../../src/fields/head-arguments.ts'
import { noFields, toFields } from '../../src/fields/header-fields.ts'
import { removedFields, storedFields } from '../../src/response/recorded-fields.ts'

/** As an object of one's own: a literal would have set its prototype. */
function named(name: string, value: string | string[]): Record<string, string | string[]> {
  return Object.fromEntries([[name, value]])
}

function response(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()))
}

describe.each(['constructor', '__proto__', 'tostring'])('a field that is called %s', (name) => {
  test('is there where it is set, with all its lines, and nowhere else', () => {
    expect(name in toFields({})).toBe(false)
    for (const value of ['a', ['a', 'b']]) {
      const fields = toFields(named(name, value))
      expect(Object.entries(fields)).toEqual([[name, value]])
      expect(Object.getPrototypeOf(fields)).toBeNull()
    }
  })

  test('is taken off on hits where the inside took it off', () => {
    expect(removedFields({ fields: toFields({}), before: toFields(named(name, 'outside')) })).toContain(name)
  })

  test('is stored with all its lines', () => {
    const { fields: added } = storedFields({ fields: toFields(named(name, ['a', 'b'])), before: noFields() }, [])
    expect(Object.entries(added)).toEqual([[name, ['a', 'b']]])
  })

  test('is read from a head that is given as a list, and has its own lines alone', () => {
    const { fields } = parseHead(response(), [200, [name, 'a', name, 'b', 'x-more', 'c']])
    expect(Object.entries(fields)).toEqual([
      [name, ['a', 'b']],
      ['x-more', 'c'],
    ])
  })

  test('stays in a head to which a field of ours is added', () => {
    const [, passed] = addToHead(response(), [200, named(name, 'a')], { 'cache-status': 'cattlegrid; hit' })
    expect(Object.entries(passed as object)).toEqual([[name, 'a']])
  })
})
