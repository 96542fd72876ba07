import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText } from '../../../../test/support/properties.ts'
import { keyMessage, parseMessage, tagList } from '../../src/notices/wake-message.ts'

const anyString = anyText()
const event = fc.constantFrom('committed' as const, 'released' as const, 'deleted' as const, 'expired' as const)
const how = fc.constantFrom('delete' as const, 'expire' as const)

describe('a message on the channel', () => {
  test('says what happened to which key', () => {
    fc.assert(
      fc.property(event, anyString, (kind, key) => {
        expect(parseMessage(keyMessage(kind, key))).toEqual({ kind, key })
      }),
    )
  })

  test('names the invalidated tags', () => {
    fc.assert(
      fc.property(fc.array(anyString, { minLength: 1 }), fc.nat(), how, (tags, tagSeq, kind) => {
        const message = `tags ${tagSeq} ${kind} ${tagList(tags)}`
        expect(parseMessage(message)).toEqual({ kind: 'tags', tags, tagSeq, how: kind })
      }),
    )
  })

  test('says that the namespace was cleared', () => {
    expect(parseMessage('cleared')).toEqual({ kind: 'cleared' })
  })

  test.each([
    '',
    ' ',
    'hello',
    'committed',
    'committed ',
    'committed %zz',
    'Committed k',
    'cleared now',
    'connected',
    'tags',
    'tags 1',
    'tags 1 ["a"]',
    'tags 1 drop ["a"]',
    'tags x delete ["a"]',
    'tags 1 delete []',
    'tags 1 expire [1]',
    'tags 1 delete ["%"]',
    'tags 1 delete {"a":1}',
    'tags 1 expire ["a"',
    'tags 1 delete [[[[',
  ])('%j says nothing', (message) => {
    expect(parseMessage(message)).toBeUndefined()
  })

  test('is parsed or ignored, whatever it contains, without an error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyString,
          anyString.map((rest) => `tags 1 expire [${rest}]`),
        ),
        (text) => void parseMessage(text),
      ),
    )
  })
})
