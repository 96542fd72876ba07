import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { startRedis } from '@cattlegrid/testkit'

it('examples/claims-worker builds each report once, also when the worker that builds it is killed', async () => {
  const redis = await startRedis({ own: true })
  try {
    const program = ['--import', 'tsx', 'src/fleet.ts']
    const options = { cwd: resolve(__dirname, '..'), env: { ...process.env, REDIS_URL: redis.url }, timeout: 60_000 }
    const { stdout } = await promisify(execFile)(process.execPath, program, options)
    expect(stdout.trim().split('\n')).toEqual([
      'monday: 1 built it, 2 skipped it',
      'tuesday: the first worker is building',
      'tuesday: the first worker ended by SIGKILL; of the others 1 built it, 1 skipped it',
      'tuesday, once more: 0 built it, 2 skipped it',
    ])
  } finally {
    await redis.stop()
  }
})
