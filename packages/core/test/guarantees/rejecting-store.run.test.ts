import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { bundled } from '../../../../test/support/bundled.ts'

const MEMBER = resolve(import.meta.dirname, 'rejecting-member.ts')

// In a process of its own: Jest does not show a test the rejections that nothing handles.
test('a store of which any step rejects or throws leaves no rejection unhandled', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [bundled(MEMBER)])
  expect(JSON.parse(stdout)).toEqual([])
}, 60_000)
