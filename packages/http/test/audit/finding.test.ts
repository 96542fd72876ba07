import { describe, expect, test } from '@jest/globals'
import { differenceOf } from '../../src/audit/finding.ts'
import type { RecordedResponse } from '../../src/response/recorded-response.ts'

const page: RecordedResponse = {
  status: 200,
  fields: { date: 'Mon, 01 Jan 2035 00:00:00 GMT', 'content-type': 'text/html', etag: '"1"' },
  removed: [],
  body: Buffer.from('Hello Ann, it is 9:30'),
  initialAge: 0,
}

function withBody(text: string): RecordedResponse {
  return { ...page, fields: { ...page.fields, etag: `"${text}"` }, body: Buffer.from(text) }
}

function withFields(fields: RecordedResponse['fields']): RecordedResponse {
  return { ...page, fields: { ...page.fields, ...fields } }
}

const DIFFERENT: readonly (readonly [what: string, other: RecordedResponse, where: string])[] = [
  ['the status', { ...page, status: 302, body: Buffer.alloc(0) }, 'the status (200 and 302)'],
  ['a field', withFields({ 'x-user': 'Ann' }), 'the field x-user'],
  ['a field of two lines', withFields({ link: ['</a>', '</b>'] }), 'the field link'],
  ['what continues a field of a layer outside', { ...page, appended: { link: '</a>' } }, 'the field link'],
  ['the entity-tag alone', withFields({ etag: '"2"' }), 'the field etag'],
  ['a letter', withBody('Hello Bob, it is 9:30'), 'the body, from byte 6 on (a letter)'],
  ['a digit', withBody('Hello Ann, it is 9:31'), 'the body, from byte 20 on (a digit)'],
  ['a blank', withBody('Hello Annie, it is 9:30'), 'the body, from byte 9 on (a punctuation mark)'],
  ['the end', withBody('Hello Ann'), 'the body, of which one ends at byte 9'],
]

describe('two responses differ', () => {
  test.each(DIFFERENT)('in %s', (_, other, where) => {
    expect(differenceOf(page, other)).toEqual({ kind: 'different', where })
  })

  test('in a byte that is no text', () => {
    const { body } = page
    const bytes = Buffer.from(body)
    bytes[0] = 0xff
    expect(differenceOf({ ...page, body: bytes }, page)).toMatchObject({
      where: 'the body, from byte 0 on (another byte)',
    })
    expect(differenceOf({ ...page, body: Buffer.from(' ello') }, page)).toMatchObject({
      where: 'the body, from byte 0 on (a blank)',
    })
  })
})

test('the time at which it was made is no difference', () => {
  const later = withFields({ date: 'Mon, 01 Jan 2035 00:00:01 GMT', expires: 'Mon, 01 Jan 2035 00:01:01 GMT' })
  expect(differenceOf(page, { ...later, initialAge: 1 })).toEqual({ kind: 'equal' })
})
