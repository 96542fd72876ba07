import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from '@jest/globals'

const root = resolve(__dirname, '..')

function run(...args: readonly string[]): { status: number | null; stderr: string } {
  return spawnSync(process.execPath, [join(root, 'scripts/run.mjs'), ...args], { encoding: 'utf8' })
}

test('package.json has at most 14 scripts, so that a newcomer reads all of them', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(14)
})

test('npm run bench offers each bench, and fails without a name', () => {
  const { status, stderr } = run('bench')
  const members = /-member\.ts$/
  const programs = readdirSync(join(root, 'bench/src')).filter((file) => file.endsWith('.ts') && !members.test(file))
  for (const program of programs) expect(stderr).toContain(`npm run bench -- ${program.replace('.ts', '')} `)
  expect(status).toBe(1)
})

test('an unknown name is refused, and the names that there are follow', () => {
  const { status, stderr } = run('check', 'constructor')
  expect(stderr).toMatch(/^There is no `npm run check -- constructor`\. There is:\n\n {2}npm run check -- house /)
  expect(status).toBe(1)
})

test('a command ends with the exit code of its program, which gets the arguments behind the name', () => {
  expect(run('check', 'house', 'gone').stderr).toContain('no check called gone')
  expect(run('check', 'house', 'names').status).toBe(0)
  expect(run('check', 'house', 'gone').status).toBe(1)
})
