import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { drawPicture, type RecordedExpiry } from '../src/demo/live/picture.ts'

const docs = new URL('../../../docs/', import.meta.url)

test('the picture of the README shows its record, in which the database was asked once for cattlegrid', async () => {
  const record = JSON.parse(await readFile(new URL('stampede.json', docs), 'utf8')) as RecordedExpiry
  expect(await readFile(new URL('stampede.svg', docs), 'utf8')).toBe(drawPicture(record))
  const queries = Object.fromEntries(record.sides.map((side) => [side.strategy, side.queries]))
  expect(queries).toMatchObject({ 'in-process': 2, 'token-lock': 1, cattlegrid: 1 })
  expect(queries['unprotected']).toBeGreaterThan(record.clients / 2)
})
