import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { bundled } from '../../../test/support/bundled.ts'

const member = bundled(resolve(import.meta.dirname, 'kept-requests-member.ts'))
const FLAGS = ['--expose-gc', '--single-threaded-gc', '--min-semi-space-size=64', '--max-semi-space-size=64']

// What only a major collection frees fills the heap of a busy server.
it('a minor garbage collection frees an answered request', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, member], { timeout: 60_000 })
  expect(Number(stdout)).toBeLessThan(5000)
})
