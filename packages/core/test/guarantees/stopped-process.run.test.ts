import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { bundled } from '../../../../test/support/bundled.ts'

const MEMBER = resolve(import.meta.dirname, 'stopped-member.ts')
const STOPS = 6

test('a process that was stopped serves no near copy that became too old meanwhile', async () => {
  const member = spawn(process.execPath, [bundled(MEMBER)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed = text(member.stdout)
  await sleep(3000)
  for (let stop = 0; stop < STOPS; stop += 1) {
    await sleep(200)
    member.kill('SIGSTOP')
    await sleep(1000)
    member.kill('SIGCONT')
  }
  await sleep(200)
  member.kill('SIGTERM')
  await once(member, 'exit')
  const { hits, old } = JSON.parse((await printed).replace('ready', '')) as {
    readonly hits: number
    readonly old: number
  }
  expect(hits).toBeGreaterThan(1000)
  // A hit that was being answered when the process was stopped has read the clock before.
  expect(old).toBeLessThanOrEqual(STOPS)
}, 60_000)
