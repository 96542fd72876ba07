import { describe, expect, test } from '@jest/globals'
import { type Answer, answerFrom, type Serving } from '../src/response/answer.ts'
import type { RecordedResponse } from '../src/response/recorded-response.ts'

const RECORDED: RecordedResponse = {
  status: 200,
  fields: { date: 'Tue, 15 Jan 2030 12:00:00 GMT', etag: 'W/"1"', 'content-type': 'text/plain' },
  removed: ['x-powered-by'],
  body: Buffer.from('grün'),
  initialAge: 5,
}
const SERVING: Serving = {
  method: 'GET',
  conditions: undefined,
  range: undefined,
  resident: 1500,
  madeAt: undefined,
  added: undefined,
  vary: undefined,
}

/** With all that is to be set among its fields. */
function answered(recorded: RecordedResponse, serving: Serving): Omit<Answer, 'own'> {
  const { fields, own, ...rest } = answerFrom(recorded, serving)
  return { ...rest, fields: { ...fields, ...own } }
}

describe('an answer made of an entry', () => {
  test('has the stored fields, its age, and the length of its body in bytes', () => {
    expect(answered(RECORDED, SERVING)).toEqual({
      status: 200,
      fields: { ...RECORDED.fields, age: '6', 'content-length': '5' },
      removed: ['x-powered-by'],
      body: RECORDED.body,
    })
  })

  test('to HEAD has all of it but the body', () => {
    const { body, ...rest } = answered(RECORDED, { ...SERVING, method: 'HEAD' })
    expect(body).toBeUndefined()
    expect(rest.fields).toHaveProperty('content-length', '5')
  })

  test('is 304 for whoever has it, with its age and without its content', () => {
    const conditions = { ifNoneMatch: 'W/"1"', ifModifiedSince: undefined }
    const { status, fields, body } = answered(RECORDED, {
      ...SERVING,
      conditions,
      added: { 'cache-status': 'cattlegrid; hit' },
    })
    expect({ status, body }).toEqual({ status: 304, body: undefined })
    expect(Object.keys(fields).toSorted()).toEqual(['age', 'cache-status', 'date', 'etag'])
  })

  test('of 204 has neither body nor length', () => {
    const answer = answered({ ...RECORDED, status: 204, body: Buffer.alloc(0) }, SERVING)
    expect(answer.body).toBeUndefined()
    expect(answer.fields).not.toHaveProperty('content-length')
  })

  test('leaves the entry as it is, whatever becomes of its fields', () => {
    const recorded = { ...RECORDED, fields: { ...RECORDED.fields, link: ['<a>'] } }
    const { fields } = answered(recorded, SERVING)
    if (Array.isArray(fields['link'])) fields['link'].push('<b>')
    expect(fields).toMatchObject({ age: '6', link: ['<a>', '<b>'] })
    expect(recorded.fields).toEqual({ ...RECORDED.fields, link: ['<a>'] })
  })
})
