import { describe, expect, test } from '@jest/globals'
import { type Answer, answerFrom, type AnswerOptions } from '../../src/response/answer.ts'
import type { RecordedResponse } from '../../src/response/recorded-response.ts'

const RECORDED: RecordedResponse = {
  status: 200,
  fields: { date: 'Tue, 15 Jan 2030 12:00:00 GMT', etag: 'W/"1"', 'content-type': 'text/plain' },
  removed: ['x-powered-by'],
  body: Buffer.from('grün'),
  initialAge: 5,
}
const WHOLE: AnswerOptions = {
  method: 'GET',
  conditions: undefined,
  range: undefined,
  residentTime: 1500,
  date: undefined,
  added: undefined,
  vary: undefined,
}

/** The response, with all fields in one object. */
function answered(recorded: RecordedResponse, options: AnswerOptions): Omit<Answer, 'extraFields'> {
  const { fields, extraFields, ...rest } = answerFrom(recorded, options)
  return { ...rest, fields: { ...fields, ...extraFields } }
}

describe('an answer made of an entry', () => {
  test('has the stored fields, its age, and the length of its body in bytes', () => {
    expect(answered(RECORDED, WHOLE)).toEqual({
      status: 200,
      fields: { ...RECORDED.fields, age: '6', 'content-length': '5' },
      removed: ['x-powered-by'],
      body: RECORDED.body,
      whole: RECORDED,
    })
  })

  test('to HEAD has all of it but the body', () => {
    const { body, ...rest } = answered(RECORDED, { ...WHOLE, method: 'HEAD' })
    expect(body).toBeUndefined()
    expect(rest.fields).toHaveProperty('content-length', '5')
  })

  test('is 304 for whoever has it, with its age and without its content', () => {
    const conditions = { ifNoneMatch: 'W/"1"', ifModifiedSince: undefined }
    const { status, fields, body } = answered(RECORDED, {
      ...WHOLE,
      conditions,
      added: { 'cache-status': 'cattlegrid; hit' },
    })
    expect({ status, body }).toEqual({ status: 304, body: undefined })
    expect(Object.keys(fields).toSorted()).toEqual(['age', 'cache-status', 'date', 'etag'])
  })

  test('of 204 has neither body nor length', () => {
    const answer = answered({ ...RECORDED, status: 204, body: Buffer.alloc(0) }, WHOLE)
    expect(answer.body).toBeUndefined()
    expect(answer.fields).not.toHaveProperty('content-length')
  })

  test('leaves the entry as it is, whatever becomes of its fields', () => {
    const recorded = { ...RECORDED, fields: { ...RECORDED.fields, link: ['<a>'] } }
    const { fields } = answered(recorded, WHOLE)
    if (Array.isArray(fields['link'])) fields['link'].push('<b>')
    expect(fields).toMatchObject({ age: '6', link: ['<a>', '<b>'] })
    expect(recorded.fields).toEqual({ ...RECORDED.fields, link: ['<a>'] })
  })
})
