import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { bundled } from '../../../test/support/bundled.ts'

const MEMBER = bundled(resolve(import.meta.dirname, 'debug-member.ts'))

async function run(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const parameters = ['--no-warnings', MEMBER]
  const { stderr } = await promisify(execFile)(process.execPath, parameters, { env: { ...process.env, ...env } })
  return stderr.split('\n').filter((line) => line !== '')
}

// In a process of its own: Node reads NODE_DEBUG once.
test('NODE_DEBUG=cattlegrid prints each step of a call and each request in order, and no value', async () => {
  const lines = await run({ NODE_DEBUG: 'cattlegrid' })
  const steps = lines.map((line) => /^CATTLEGRID \d+: products (\S+)/.exec(line)?.[1])
  const load = ['miss', 'lead', 'load', 'commit', 'outcome', 'answer']
  const failure = ['miss', 'lead', 'load', 'load-failed', 'outcome', 'answer']
  expect(steps).toEqual([...load, 'hit', ...failure, ...load, 'http', 'hit', 'http', 'close'])
  expect(lines[0]).toMatch(/ products miss key='product:7' call=1 took=[\d.]+$/)
  expect(lines.filter((line) => / http (?!route='\/products\/:id' method='GET' verdict=)/.test(line))).toEqual([])
  expect(lines.find((line) => line.includes(' load-failed '))).toMatch(/ key='product:8' error=Error E8 cooldown=\d+$/)
  expect(lines.filter((line) => line.includes('secret'))).toEqual([])
}, 60_000)

test('without NODE_DEBUG nothing is printed', async () => {
  expect(await run({ NODE_DEBUG: '' })).toEqual([])
}, 60_000)
