import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'

const root = resolve(__dirname, '../..')

describe('a soak of a few seconds', () => {
  it('leaves nothing under way when it is quiet, and nothing kept after a clear', async () => {
    // What the process compiles on the way is more than a short window's one percent.
    const options = ['--seconds', '10', '--slope', '10']
    const run = promisify(execFile)(
      process.execPath,
      ['--expose-gc', '--import', '@cattlegrid/run-typescript', 'test/soak/run.ts', ...options],
      { cwd: root },
    )
    const { stdout, stderr } = await run.catch((error: unknown) => error as { stdout: string; stderr: string })
    process.stderr.write(stdout)
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^nothing is under way any more /m)
    expect(run.child.exitCode).toBe(0)
  }, 120_000)
})
